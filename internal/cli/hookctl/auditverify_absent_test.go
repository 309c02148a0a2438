package hookctl_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	auditcli "github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// segments fills n segments, the last one live, and exports each.
func segments(f *clibus.AuditFixture, n int) (exports []string) {
	f.T.Helper()
	for i := 1; i <= n; i++ {
		if i > 1 {
			f.Turn()
		}
		f.Fill(2)
		exports = append(exports, export(f, i))
	}
	return exports
}

func removeStreams(f *clibus.AuditFixture, names ...string) {
	f.T.Helper()
	for _, name := range names {
		if err := f.Bus.RemoveStream(f.T.Context(), name); err != nil {
			f.T.Fatal(err)
		}
	}
}

func TestAuditVerifyMissesSegments(t *testing.T) {
	t.Parallel()
	const a, b, c = "HOOKS_AUDIT", "HOOKS_AUDIT_2", "HOOKS_AUDIT_3"
	for name, x := range map[string]struct {
		removed []string
		unseen  bool // nothing was verified earlier
		args    []string
		want    audit.Verdict
		of      string
		reason  string
	}{
		"none":                                 {nil, false, nil, audit.OKPinned, c, "2 messages go on"},
		"none, and none was removed":           {nil, false, []string{"--removed-before", "1"}, audit.OKPinned, c, "2 messages go on"},
		"none, though one is said to be":       {nil, false, []string{"--removed-before", "2"}, audit.OKPinned, c, "HOOKS_AUDIT is there, though --removed-before 2 says that it was removed"},
		"the middle":                           {[]string{b}, false, nil, audit.Incomplete, b, "HOOKS_AUDIT_2 is not there, though segments before and after it are"},
		"the middle, never seen":               {[]string{b}, true, nil, audit.Incomplete, b, "before and after"},
		"the middle, without a pin":            {[]string{b}, true, []string{"--no-pin"}, audit.Incomplete, b, "before and after"},
		"the middle, whatever is said":         {[]string{b}, false, []string{"--removed-before", "3"}, audit.Incomplete, b, "before and after"},
		"the beginning":                        {[]string{a}, false, nil, audit.Incomplete, a, "HOOKS_AUDIT was verified before, and is not there any more: where a keeper has removed all before HOOKS_AUDIT_2, say so with --removed-before 2"},
		"the beginning, by a keeper":           {[]string{a}, false, []string{"--removed-before", "2"}, audit.OKPinned, c, "a keeper removed HOOKS_AUDIT, as --removed-before says"},
		"the beginning, never seen":            {[]string{a}, true, nil, audit.OKUnanchored, c, "HOOKS_AUDIT is not there: nothing is proved of what was before HOOKS_AUDIT_2"},
		"the beginning, never seen, nor right": {[]string{a}, true, []string{"--removed-before", "1"}, audit.Incomplete, a, "says that it was not removed"},
		"all but the last":                     {[]string{a, b}, false, nil, audit.Incomplete, "HOOKS_AUDIT to HOOKS_AUDIT_2", "HOOKS_AUDIT was verified before"},
		"all but the last, one by a keeper":    {[]string{a, b}, false, []string{"--removed-before", "2"}, audit.Incomplete, b, "HOOKS_AUDIT_2 is not there, and --removed-before says that it was not removed"},
		"all but the last, never seen":         {[]string{a, b}, true, nil, audit.OKUnanchored, c, "HOOKS_AUDIT to HOOKS_AUDIT_2 is not there: nothing is proved of what was before HOOKS_AUDIT_3"},
		"the end":                              {[]string{c}, false, nil, audit.Incomplete, c, "there was a later segment, HOOKS_AUDIT_3"},
		"the end, never seen":                  {[]string{c}, true, nil, audit.Incomplete, c, "there was a later segment, HOOKS_AUDIT_3"},
	} {
		t.Run(name, func(t *testing.T) {
			f := clibus.NewAudit(t, hookctl.Run)
			segments(f, 3)
			key := []string{"--key", f.Keys.Text}
			if !x.unseen {
				verdictOf(f, key...)
			}
			removeStreams(f, x.removed...)
			v, _ := verdictOf(f, append(key, x.args...)...)
			if v.Verdict != x.want || v.Of != x.of || !strings.Contains(v.Reason, x.reason) {
				t.Errorf("%s of %s: %s; want %s of %s: %s", v.Verdict, v.Of, v.Reason, x.want, x.of, x.reason)
			}
			// Segments that were cut out stay missing, even if the rest is verified repeatedly.
			text := f.Run(append([]string{"audit", "verify", "--text", "--wide"}, append(key, x.args...)...)...)
			if x.want == audit.Incomplete && text.Code != x.want.ExitCode() || !strings.Contains(text.Stdout, x.reason) {
				t.Errorf("the text says\n%s", text.Stdout)
			}
		})
	}
}

func TestAuditVerifyMissesExports(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	files := segments(f, 4)
	verdictOf(f, "--key", f.Keys.Text)
	for name, c := range map[string]struct {
		files, args []string
		want        audit.Verdict
		reason      string
	}{
		"none":                     {files, nil, audit.OKPinned, "2 messages"},
		"the end":                  {files[:2], nil, audit.Incomplete, "there was a later segment, HOOKS_AUDIT_3 to HOOKS_AUDIT_4"},
		"the end, without pins":    {files[:2], []string{"--no-pin"}, audit.OKUnanchored, "2 messages"},
		"the middle":               {[]string{files[0], files[3]}, nil, audit.Incomplete, "HOOKS_AUDIT_2 to HOOKS_AUDIT_3 is not there"},
		"the beginning":            {files[2:], nil, audit.OKPinned, "HOOKS_AUDIT to HOOKS_AUDIT_2 is not there: nothing is proved of what was before HOOKS_AUDIT_3"},
		"the beginning, wrongly":   {files[2:], []string{"--removed-before", "2"}, audit.Incomplete, "HOOKS_AUDIT_2 is not there, and --removed-before"},
		"the beginning, as it was": {files[2:], []string{"--removed-before", "3"}, audit.OKPinned, "a keeper removed HOOKS_AUDIT to HOOKS_AUDIT_2"},
	} {
		if v, _ := verdictOf(f, append(append([]string{"--key", f.Keys.Text}, c.args...), c.files...)...); v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s: %s: %s; want %s: %s", name, v.Verdict, v.Reason, c.want, c.reason)
		}
	}
	if got := f.Run("audit", "verify", "--removed-before=-1"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "--removed-before") {
		t.Errorf("a number that is none: %+v", got)
	}
}

// A pin given with --pin belongs to an existing segment, or to a missing one.
func TestAuditVerifyWithANamedPin(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	pin := []string{"--key", f.Keys.Text, "--pin", filepath.Join(t.TempDir(), "pin.json")}
	verdictOf(f, pin...)
	f.Turn()
	f.Fill(2)
	if v, _ := verdictOf(f, pin...); v.Verdict != audit.OKUnanchored || v.Parts[0].Verdict != audit.OKPinned {
		t.Errorf("both: %+v", v)
	}
	removeStreams(f, "HOOKS_AUDIT")
	if v, _ := verdictOf(f, pin...); v.Verdict != audit.Incomplete || v.Of != "HOOKS_AUDIT" {
		t.Errorf("the pinned one is gone: %+v", v)
	}
	if v, _ := verdictOf(f, append(pin, "--removed-before", "2")...); v.Verdict != audit.OKUnanchored {
		t.Errorf("a keeper removed it: %+v", v)
	}
}

func TestAuditStatsTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	segments(f, 5)
	removeStreams(f, "HOOKS_AUDIT", "HOOKS_AUDIT_3", "HOOKS_AUDIT_4")
	var s auditcli.Stats
	if got := f.Run("audit", "stats"); json.Unmarshal([]byte(got.Stdout), &s) != nil {
		t.Fatal(got)
	}
	if diff := cmp.Diff([]auditcli.Gap{{From: 1, To: 1}, {From: 3, To: 4}}, s.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	text := f.Run("audit", "stats", "--text").Stdout
	for _, want := range []string{"HOOKS_AUDIT is not there", "HOOKS_AUDIT_3 to HOOKS_AUDIT_4 is not there, though"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
