package approvalview_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// What the router adds is no hook's change, and what hooks change besides stays as it came.
func TestSessionIDOfTheRouterCountsAsNoChange(t *testing.T) {
	const added = `{"op":"add","path":"/session_id","value":"s1"}`
	const changed = `{"op":"replace","path":"/x","old":"<a>","value":"b"}`
	for patch, want := range map[string]string{
		"[" + added + "]":                                             "[]",
		"[" + changed + "," + added + "]":                             "[" + changed + "]",
		`[{"op":"add","path":"/session_id","value":"s2"}]`:            `[{"op":"add","path":"/session_id","value":"s2"}]`,
		`[{"op":"replace","path":"/session_id","value":"s1"}]`:        `[{"op":"replace","path":"/session_id","value":"s1"}]`,
		`[{"op":"add","path":"/tool_input/session_id","value":"s1"}]`: `[{"op":"add","path":"/tool_input/session_id","value":"s1"}]`,
		"broken": "broken",
	} {
		r := approval.Record{Request: approval.Request{Session: "s1"}, Changes: json.RawMessage(patch)}
		if got := string(approvalview.ByHooks(r)); got != want {
			t.Errorf("%s: %s; want %s", patch, got, want)
		}
		if v := approvalview.Of(r); len(v.Changed) != strings.Count(want, `"op"`) && patch != "broken" {
			t.Errorf("%s: the view has %+v", patch, v.Changed)
		}
	}
}

// A secret that a hook took out is masked twice: what is shown says so, and that it can be revealed.
func TestWhatIsMaskedIsSaid(t *testing.T) {
	data := json.RawMessage(`{"token":"[REDACTED:github-token]"}`)
	for name, c := range map[string]struct {
		data, changes string
		masked        bool
		change        bool
	}{
		"nothing":                       {string(data), `[]`, false, false},
		"in the data":                   {`{"token":"[REDACTED:key]"}`, `[]`, true, false},
		"no data is shown":              {"", "", true, false},
		"what a hook took out":          {string(data), `[{"op":"replace","path":"/token","old":"[REDACTED:github-token]","value":"[REDACTED:github-token]"}]`, true, true},
		"the same, revealed":            {string(data), `[{"op":"replace","path":"/token","old":"ghp_x","value":"[REDACTED:github-token]"}]`, false, false},
		"what a hook put in":            {string(data), `[{"op":"add","path":"/token","value":"[REDACTED:github-token]"}]`, false, false},
		"with what stands around it":    {string(data), `[{"op":"replace","path":"/x","old":"curl [REDACTED:key]","value":"curl"}]`, true, false},
		"changes that nobody can parse": {string(data), `x`, false, false},
	} {
		v := approvalview.Of(approval.Record{Request: approval.Request{DataSHA256: approval.Digest(data)}, Data: json.RawMessage(c.data), Changes: json.RawMessage(c.changes)})
		if v.Masked != c.masked {
			t.Errorf("%s: masked is %v", name, v.Masked)
		}
		if c.change && (len(v.Changed) != 1 || !v.Changed[0].Masked || len(v.Changed[0].Diff.Hunks) > 0) {
			t.Errorf("%s: changed is %+v", name, v.Changed)
		}
	}
}

// A reason that the prompt gives is not given twice; those of several hooks count one by one.
func TestTheReasonIsSaidOnce(t *testing.T) {
	const prompt = "1. Deploy?\n\nAsked because: it is Friday; late\n2. Run?\n\nAsked because: it pushes"
	for reason, want := range map[string]string{
		"":                              "",
		"it is Friday; late":            "",
		"it is Friday; late; it pushes": "",
		"it pushes; it is red":          "it pushes; it is red",
		"it is red":                     "it is red",
	} {
		if got := approvalview.Of(approval.Record{Request: approval.Request{Prompt: prompt}, Reason: reason}).Reason; got != want {
			t.Errorf("%q: %q; want %q", reason, got, want)
		}
	}
}
