package hookctl_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli"
	auditcli "github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// verdictOf runs verify, and checks that the document and the exit code agree.
func verdictOf(f *clibus.AuditFixture, args ...string) (auditcli.Verified, clitest.Outcome) {
	f.T.Helper()
	got := f.Run(append([]string{"audit", "verify", "--json", "--wait", "200ms"}, args...)...)
	var v auditcli.Verified
	if err := json.Unmarshal([]byte(got.Stdout), &v); err != nil {
		f.T.Fatalf("%v: %v in %+v", args, err, got)
	}
	if v.Verdict.ExitCode() != got.Code {
		f.T.Errorf("%v: verdict %s with exit code %d", args, v.Verdict, got.Code)
	}
	return v, got
}

// export exports a segment to a file.
func export(f *clibus.AuditFixture, segment int) string {
	f.T.Helper()
	file := filepath.Join(f.T.TempDir(), "export.jsonl")
	if got := f.Run("audit", "export", file, "--segment", strconv.Itoa(segment)); got.Code != cli.ExitOK {
		f.T.Fatal(got)
	}
	return file
}

func TestAuditVerifyOfBadFilesEndsInAVerdict(t *testing.T) {
	t.Parallel()
	f, other := clibus.NewAudit(t, hookctl.Run), clibus.NewAudit(t, hookctl.Run)
	f.Fill(5)
	other.Keys = clibus.NewKey(t, 9, "hook-router")
	other.Write(clibus.ChainOf("x", "y", clibus.Began)...)
	other.Sign()
	good, err := os.ReadFile(export(f, 1))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(export(other, 1))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	join := func(list ...[]byte) []byte { return bytes.Join(list, nil) }
	foreignCheckpoint := bytes.SplitAfter(foreign, []byte("\n"))[2]
	elsewhere := bytes.ReplaceAll(foreignCheckpoint, []byte("hooks/HOOKS_AUDIT"), []byte("hooks/HOOKS_AUDIT_7"))
	for name, c := range map[string]struct {
		file []byte
		want audit.Verdict
		line int64
		text string
	}{
		"nothing wrong":                 {good, audit.OKUnanchored, 0, "5 messages"},
		"empty":                         {nil, audit.Incomplete, 1, "the file is empty"},
		"truncated in a line":           {good[:len(good)-20], audit.Incomplete, 8, "ends in the middle"},
		"truncated at a line":           {join(lines[:len(lines)-3]...), audit.Incomplete, 0, "no checkpoint covers"},
		"concatenated":                  {join(good, good), audit.Invalid, 9, "two exports in one file"},
		"CR LF line ends":               {bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")), audit.Invalid, 1, "CR LF"},
		"CR LF after the header":        {join(lines[0], bytes.ReplaceAll(join(lines[1:]...), []byte("\n"), []byte("\r\n"))), audit.Invalid, 2, "CR LF"},
		"a checkpoint by another key":   {join(lines[0], lines[1], foreignCheckpoint), audit.Invalid, 3, "no known router's key has signed"},
		"a checkpoint of another log":   {join(lines[0], lines[1], elsewhere), audit.Invalid, 3, ""},
		"an empty log":                  {lines[0], audit.Incomplete, 0, "the log is empty"},
		"an edited record":              {bytes.Replace(good, []byte("budget"), []byte("BUDGET"), 1), audit.Invalid, 5, "not the ones that were signed"},
		"a message removed":             {join(lines[0], lines[1], join(lines[3:]...)), audit.Invalid, 3, "stands where"},
		"a checkpoint removed":          {join(join(lines[:4]...), join(lines[5:]...)), audit.Diverged, 7, "predecessor"},
		"a text that is no export":      {[]byte("hello\n"), audit.Invalid, 1, "no header"},
		"a receipt":                     {[]byte(`{"hookrouter_audit_receipt":1}` + "\n"), audit.Invalid, 1, "no header"},
		"nothing but zeros":             {make([]byte, 1000), audit.Incomplete, 1, "middle"},
		"a header that climbs the tree": {bytes.ReplaceAll(good, []byte("hooks/HOOKS_AUDIT"), []byte("hooks/../../../x")), audit.Invalid, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log.jsonl")
			if err := os.WriteFile(file, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			v, got := verdictOf(f, file, "--key", f.Keys.Text, "--no-pin")
			if v.Verdict != c.want && !(c.line == 0 && c.text == "" && !v.Verdict.OK()) || c.line > 0 && v.Line != c.line || !strings.Contains(v.Reason, c.text) {
				t.Errorf("%s line %d: %s\n%s", v.Verdict, v.Line, v.Reason, got.Stderr)
			}
			piped := f.With(cli.Process{Stdin: bytes.NewReader(c.file)}, "audit", "verify", "-", "--text", "--key", f.Keys.Text, "--no-pin")
			if piped.Code != got.Code || !strings.HasPrefix(piped.Stdout, string(v.Verdict)) {
				t.Errorf("from the standard input: %+v", piped)
			}
		})
	}
	if v, _ := verdictOf(f, export(f, 1), "--key", other.Keys.Text, "--no-pin"); v.Verdict != audit.Invalid || !strings.Contains(v.Reason, "key") {
		t.Errorf("a wrong key: %+v", v)
	}
}

func TestAuditVerifyOfALongLineIsInvalid(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	header := `{"hookrouter_audit_export":1,"origin":"hooks/HOOKS_AUDIT","first":1,"prefix":"hooks"}` + "\n"
	for name, begin := range map[string]string{"of a message": header + `{"seq":1,"time":"`, "instead of a header": ""} {
		in := io.MultiReader(strings.NewReader(begin), io.LimitReader(endless{}, 100<<20), strings.NewReader("\n"))
		got := f.With(cli.Process{Stdin: in}, "audit", "verify", "-", "--text", "--key", f.Keys.Text)
		if got.Code != audit.Invalid.ExitCode() || !strings.Contains(got.Stdout, "longer than") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

func TestAuditVerifyOfTheRunningLog(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	a := clibus.NewKey(t, 2, "a")
	key := []string{"--key", f.Keys.Text}
	if v, _ := verdictOf(f, key...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "empty") {
		t.Errorf("an empty log: %+v", v)
	}
	f.Fill(4)
	if v, _ := verdictOf(f, append(key, "--no-pin")...); v.Verdict != audit.OKUnanchored {
		t.Errorf("without a pin: %+v", v)
	}
	if v, _ := verdictOf(f, key...); v.Verdict != audit.OKUnanchored || v.Parts[0].Messages != 4 {
		t.Errorf("the first time: %+v", v)
	}
	if v, _ := verdictOf(f); v.Verdict != audit.OKPinned {
		t.Errorf("the second time, with the pinned key: %+v", v)
	}
	f.Cosign(a)
	if v, _ := verdictOf(f, "--witness", a.Text); v.Verdict != audit.OKWitnessed {
		t.Errorf("with a witness: %+v", v)
	}
	f.Write(clibus.ChainOf("more", "s", clibus.Began)...)
	if v, _ := verdictOf(f); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "no checkpoint covers") {
		t.Errorf("without a checkpoint: %+v", v)
	}
	f.Sign()
	if v, _ := verdictOf(f); v.Verdict != audit.OKPinned { // there is no witness yet
		t.Errorf("with one: %+v", v)
	}
	f.Cosign(a)
	if v, _ := verdictOf(f); v.Verdict != audit.OKWitnessed { // its key was pinned
		t.Errorf("witnessed again: %+v", v)
	}
}

func TestAuditVerifyFollowsSegments(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	one := export(f, 1)
	f.Turn()
	f.Fill(2)
	two := export(f, 2)
	key := []string{"--key", f.Keys.Text, "--no-pin"}
	v, got := verdictOf(f, key...)
	if v.Verdict != audit.OKUnanchored || len(v.Parts) != 2 || v.Parts[1].Previous == "" {
		t.Errorf("the running log: %+v %s", v, got.Stderr)
	}
	if v, _ := verdictOf(f, append(key, one, two)...); v.Verdict != audit.OKUnanchored || len(v.Parts) != 2 {
		t.Errorf("both files: %+v", v)
	}
	if v, _ := verdictOf(f, append(key, two)...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "segment before") {
		t.Errorf("the second alone: %+v", v)
	}
	if v, _ := verdictOf(f, append(key, two, one)...); v.Verdict != audit.Incomplete {
		t.Errorf("in another order: %+v", v)
	}
	text, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two, bytes.Replace(text, []byte("budget"), []byte("BUDGET"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, _ := verdictOf(f, append(key, two)...); v.Verdict != audit.Invalid {
		t.Errorf("the second alone, edited: %+v", v)
	}

	// The pin of the running log knows where the second segment continues.
	two = export(f, 2)
	if v, _ := verdictOf(f, "--key", f.Keys.Text); !v.Verdict.OK() {
		t.Error(v)
	}
	if v, _ := verdictOf(f, two); v.Verdict != audit.OKPinned {
		t.Errorf("the second, with a pin: %+v", v)
	}

	// An empty live segment, and then a removed one.
	f.Turn()
	if v, _ := verdictOf(f); v.Verdict != audit.OKPinned || len(v.Parts) != 2 {
		t.Errorf("after a turn: %+v", v)
	}
	if err := f.Bus.RemoveStream(t.Context(), "HOOKS_AUDIT"); err != nil {
		t.Fatal(err)
	}
	if v, _ := verdictOf(f, "--removed-before", "2"); v.Verdict != audit.OKPinned || len(v.Parts) != 1 {
		t.Errorf("after the first was removed: %+v", v)
	}
	for _, stream := range []string{"HOOKS_AUDIT_3", "HOOKS_AUDIT_2", "HOOKS_AUDIT"} {
		_ = f.Bus.RemoveStream(t.Context(), stream)
	}
	if _, err := f.Bus.CreateStream(t.Context(), "HOOKS_AUDIT", store.Subjects(f.Bus), 1); err != nil {
		t.Fatal(err)
	}
	if v, _ := verdictOf(f); v.Verdict != audit.Incomplete {
		t.Errorf("a log that was made anew: %+v", v)
	}
}

func TestAuditVerifyMissesALaterSegment(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	f.Turn()
	f.Fill(2)
	if err := f.Bus.RemoveStream(t.Context(), "HOOKS_AUDIT_2"); err != nil {
		t.Fatal(err)
	}
	v, got := verdictOf(f, "--key", f.Keys.Text, "--no-pin")
	if v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "there was a later segment, HOOKS_AUDIT_2") {
		t.Errorf("%+v %s", v, got.Stderr)
	}
}

func TestAuditVerifyGoesByTheGivenKeyNotThePinned(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	verdictOf(f, "--key", f.Keys.Text)
	if v, _ := verdictOf(f, "--key", clibus.NewKey(t, 8, "hook-router").Text); v.Verdict != audit.Invalid {
		t.Errorf("%+v", v)
	}
}

func TestAuditVerifyTakesKeysOnTrustOnceAndRemembersThem(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	got := f.Run("audit", "verify")
	if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no router that runs here gave its key either") {
		t.Errorf("without a router: %+v", got)
	}
	f.Announce(f.Keys.Text)
	v, got := verdictOf(f)
	if v.Verdict != audit.OKUnanchored || !v.OnTrust || !strings.Contains(got.Stderr, "ON TRUST") {
		t.Errorf("the first time: %+v %s", v, got.Stderr)
	}
	f.Announce(clibus.NewKey(t, 7, "hook-router").Text) // the routers are not asked again
	v, got = verdictOf(f)
	if v.Verdict != audit.OKPinned || v.OnTrust || len(v.Keys) != 1 || strings.Contains(got.Stderr, "ON TRUST") {
		t.Errorf("the second time: %+v %s", v, got.Stderr)
	}
	file := export(f, 1)
	if got := f.Run("audit", "verify", file, "--no-pin"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "--key") {
		t.Errorf("offline without a key: %+v", got)
	}
	if v, _ := verdictOf(f, file); v.Verdict != audit.OKPinned {
		t.Errorf("offline with the pin: %+v", v)
	}
}

func TestAuditVerifyComparesWithWhatWasSeen(t *testing.T) {
	t.Parallel()
	f, forger := clibus.NewAudit(t, hookctl.Run), clibus.NewAudit(t, hookctl.Run)
	forger.Env["XDG_STATE_HOME"] = f.Env["XDG_STATE_HOME"] // the auditor's directory, at another time
	f.Fill(4)
	early := export(f, 1)
	head := filepath.Join(t.TempDir(), "head")
	f.Write(clibus.ChainOf("more", "s", clibus.Began)...)
	f.Sign()
	if err := os.WriteFile(head, f.Signed, 0o600); err != nil {
		t.Fatal(err)
	}
	key := []string{"--key", f.Keys.Text}
	if v, _ := verdictOf(f, append(key, early, "--no-pin", "--head", head)...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "tail is missing") {
		t.Errorf("a head that was seen: %+v", v)
	}
	if v, _ := verdictOf(f, key...); v.Verdict != audit.OKUnanchored {
		t.Errorf("the log: %+v", v)
	}
	v, got := verdictOf(f, early)
	if v.Verdict != audit.Incomplete || !strings.Contains(got.Stderr, "use --pin with a file of its own") {
		t.Errorf("a tail that was cut off: %+v %s", v, got.Stderr)
	}
	for i := range 5 { // another history, with the router's key
		forger.Write(clibus.ChainOf("forged-"+strconv.Itoa(i), "s", clibus.Began)...)
		forger.Sign()
	}
	if v, _ := verdictOf(forger); v.Verdict != audit.Diverged || v.Seq != 5 {
		t.Errorf("a fork: %+v", v)
	}
	own := filepath.Join(t.TempDir(), "own.json")
	for _, want := range []audit.Verdict{audit.OKUnanchored, audit.OKPinned} {
		if v, _ := verdictOf(forger, append(key, "--pin", own)...); v.Verdict != want {
			t.Errorf("with a pin of its own: %+v", v)
		}
	}
}

func TestAuditPinsAreKeptSafe(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	verdictOf(f, "--key", f.Keys.Text)
	file := filepath.Join(f.Env["XDG_STATE_HOME"], "hookctl", "audit", "hooks__HOOKS_AUDIT.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if !bytes.Contains(text, []byte(f.Keys.Text)) {
		t.Errorf("no key in %s", text)
	}
	if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 1 {
		t.Errorf("%d files are left", len(list))
	}
	// A verdict other than OK changes nothing.
	f.Write(clibus.ChainOf("x", "y", clibus.Began)...)
	verdictOf(f)
	if after, _ := os.ReadFile(file); !bytes.Equal(after, text) {
		t.Errorf("the pin is %s", after)
	}
	f.Sign()
	for _, broken := range []string{"", "{}", "hello", `{"origin":"hooks/HOOKS_AUDIT","size":1,"keys":["x"]}`} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := f.Run("audit", "verify"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "read the pin") {
			t.Errorf("a pin that says %q: %+v", broken, got)
		}
	}
	delete(f.Env, "XDG_STATE_HOME")
	if got := f.Run("audit", "verify", "--key", f.Keys.Text); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "--no-pin") {
		t.Errorf("without a home: %+v", got)
	}
}

func TestAuditKeysAreReadOrExplained(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(1)
	file, dir := export(f, 1), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if v, _ := verdictOf(f, file, "--no-pin", "--key", write("good", "# ours\n\n"+f.Keys.Text+"\n")); !v.Verdict.OK() {
		t.Errorf("a file: %+v", v)
	}
	for want, key := range map[string]string{
		"private key":                write("private", "PRIVATE+KEY+hook-router+12345678+AAAA\n"),
		"that is the private key":    "PRIVATE+KEY+hook-router+12345678+AAAA",
		"there is no key in it":      write("none", "\n"),
		"no verifier key":            write("junk", "hello\n"),
		"there is no file":           filepath.Join(dir, "absent"),
		"as a key it is malformed":   f.Keys.Text + "x",
		"given as a router's and as": f.Keys.Text,
	} {
		args := []string{"audit", "verify", file, "--no-pin", "--key", key}
		if key == f.Keys.Text {
			args = append(args, "--witness", key)
		}
		got := f.Run(args...)
		if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) || strings.Contains(got.Stderr, "AAAA") {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

func TestAuditVerifyRequire(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	witness := clibus.NewKey(t, 2, "w")
	verify := func(require string) int {
		args := []string{"audit", "verify", "--key", f.Keys.Text, "--witness", witness.Text}
		if require != "" {
			args = append(args, "--require", require)
		}
		return f.Run(args...).Code
	}
	for i, c := range []struct {
		require string
		want    int
	}{{"witnessed", 20}, {"", 10}, {"pinned", 0}, {"any", 0}, {"witnessed", 10}} {
		if got := verify(c.require); got != c.want {
			t.Errorf("%d: --require %q exits with %d; want %d", i, c.require, got, c.want)
		}
	}
	f.Cosign(witness)
	for _, require := range []string{"", "any", "pinned", "witnessed"} {
		if got := verify(require); got != 0 {
			t.Errorf("witnessed: --require %q exits with %d", require, got)
		}
	}
	if got := verify("nonsense"); got != cli.ExitLocal {
		t.Errorf("--require nonsense exits with %d", got)
	}
	if got := f.Run("audit", "verify", "--require", "pined").Stderr; !strings.Contains(got, `must be one of any, pinned, witnessed, not "pined": did you mean "pinned"?`) {
		t.Errorf("--require pined: %s", got)
	}
	if got := f.Run("audit", "verify", "--key", clibus.NewKey(t, 3, "hook-router").Text, "--no-pin", "--require", "any"); got.Code != audit.Invalid.ExitCode() {
		t.Errorf("a log of somebody else: %+v", got)
	}
}

// A malformed line is malformed whatever was pinned, and a running log has no lines.
func TestAuditVerifyBlamesThePinOnlyForWhatItDecided(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	verdictOf(f, "--key", f.Keys.Text)
	if _, err := f.Trail.Live().Append(t.Context(), f.Bus.Of("audit", "w", "w1"), "", f.Last, []byte("no record\n")); err != nil {
		t.Fatal(err)
	}
	got := f.Run("audit", "verify", "--text", "--wait", "1ms")
	if got.Code != audit.Invalid.ExitCode() || !strings.HasPrefix(got.Stdout, "INVALID  sequence 4: ") || strings.Contains(got.Stderr, "--pin") {
		t.Errorf("the running log: %+v", got)
	}
	other := clibus.NewAudit(t, hookctl.Run)
	other.Keys = clibus.NewKey(t, 9, "hook-router")
	other.Fill(1)
	v, got := verdictOf(f, export(other, 1))
	if v.Verdict != audit.Invalid || !strings.Contains(got.Stderr, "use --pin with a file of its own") {
		t.Errorf("an export of another deployment: %+v %s", v, got.Stderr)
	}
}
