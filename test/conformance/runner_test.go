package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
)

// oneCase parses a case that the test wrote.
func oneCase(t *testing.T, text string) Case {
	t.Helper()
	cases, err := parse([]byte("[" + text + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return cases[0]
}

func TestRunPassesAndLeavesNothing(t *testing.T) {
	f, target := startFake(t)
	// The first request of a connection starts a goroutine that the connection keeps.
	if _, err := target.request(t.Context(), target.subject("handlers", ""), nil, nil); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	err := Run(t.Context(), target, oneCase(t, `{"name":"x",
		"handlers":[{"name":"Two","event":"a:b","behavior":{"set":{"n":2}}}],
		"contributors":[{"name":"gone","channel":"c","behavior":{"no_responder":true}}],
		"steps":[
			{"op":"register","handler":{"id":"three","name":"Two","event":"a:b","timeout_ms":50,"behavior":{"sleep_ms":200}}},
			{"op":"unregister","handler":"gone"},
			{"op":"unregister","handler":"gone"},
			{"op":"emit","event":"a:b","data":{"n": 1},"expect":{"action":"modify","data":{"n":2},"calls":["Two","three"],
				"received":{"Two":{"n":1}},"received_event":{"three":"tool:pre"}}},
			{"op":"unregister","handler":"three"},
			{"op":"emit","event":"a:b","data":{},"expect":{"calls":["Two"],"approvals":[],"messages":[]}}
		]}`))
	if err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
	if len(f.hooks) != 0 {
		t.Errorf("still registered: %v", f.hooks)
	}
	if f.bodies[0] != `{"n": 1}` || len(f.headers[0]) != 0 {
		t.Errorf("sent %s with %v, want the bytes of the case and no header", f.bodies[0], f.headers[0])
	}
	if len(f.late) != 1 {
		t.Fatalf("%d calls were not answered in time, want that of the slow hook", len(f.late))
	}
	// Run has waited for the late reply, which is on its way if it is not here.
	if msg, err := f.late[0].NextMsg(10 * time.Second); err != nil || string(msg.Data) != "null" {
		t.Errorf("late reply: %v, %v", msg, err)
	}
}

func TestRunReportsEveryExpectation(t *testing.T) {
	_, target := startFake(t)
	err := Run(t.Context(), target, oneCase(t, `{"name":"x",
		"handlers":[{"name":"one","event":"a:b","behavior":{}},{"name":"two","event":"a:b","behavior":{}}],
		"steps":[
			{"op":"emit","event":"a:b","data":{},"expect":{"action":"deny","calls":["two","one"]}},
			{"op":"emit","event":"a:b","data":{},"expect":{"received":{"one":{"n":1}},"display":[]}}
		]}`))
	const want = `step 1, emit a:b: action: want "deny", got "continue"
step 1, emit a:b: calls: want ["two","one"], got ["one","two"] (at [0])
step 2, emit a:b: received.one: want {"n":1}, got {} (at .n)`
	if err == nil || err.Error() != want {
		t.Errorf("Run reports\n%v\nwant\n%s", err, want)
	}
}

func TestRunReportsWhatCannotBeReplayed(t *testing.T) {
	const emit = `{"name":"x","op":"emit","event":"a:b","data":{},"expect":{"action":"deny"}}`
	for name, tt := range map[string]struct {
		reply *nats.Msg // nil: nobody is there
		want  string
	}{
		"nobody is there":   {want: "no responders"},
		"a refusal":         {reply: &nats.Msg{Header: nats.Header{headerErrorCode: {"503"}, headerError: {"no storage"}}}, want: "refused: 503 no storage"},
		"no JSON":           {reply: &nats.Msg{Data: []byte("oops")}, want: "decode JSON"},
		"JSON of no result": {reply: &nats.Msg{Data: []byte("[]")}, want: "got []"},
	} {
		t.Run(name, func(t *testing.T) {
			_, target := startFake(t)
			target.Prefix = "other"
			if tt.reply != nil {
				if _, err := target.Conn.Subscribe("other.emit.a.b", func(msg *nats.Msg) { _ = msg.RespondMsg(tt.reply) }); err != nil {
					t.Fatal(err)
				}
			}
			err := Run(t.Context(), target, oneCase(t, emit))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "action") {
				t.Errorf("Run = %v, want an error about %q alone", err, tt.want)
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	_, target := startFake(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := Run(ctx, target, oneCase(t, `{"name":"x","op":"sleep","ms":3600000}`))
	if err == nil || !strings.Contains(err.Error(), "step 1, sleep: context deadline exceeded") {
		t.Errorf("Run = %v", err)
	}
}

func TestRunIgnoresCallsForTheRoutersOwnEvents(t *testing.T) {
	f, target := startFake(t)
	f.execute = func(*nats.Msg) any {
		for _, h := range f.hooks {
			f.send(&nats.Msg{
				Subject: f.prefix + ".call." + h.id, Data: []byte(`{}`),
				Header: nats.Header{"ce-type": {eventApprovalRequired}, headerMode: {"observe"}},
			})
		}
		return map[string]any{"action": "continue"}
	}
	if err := Run(t.Context(), target, oneCase(t, `{"name":"x","op":"execute","event":"a:b","data":{},
		"handlers":[{"name":"one","event":"*","behavior":{}}],"expect":{"calls":[]}}`)); err != nil {
		t.Error(err)
	}
}

func TestRunRenewsRegistrations(t *testing.T) {
	f, target := startFake(t) // whose registrations live for a millisecond
	if err := Run(t.Context(), target, oneCase(t, `{"name":"x","handlers":[{"name":"one","event":"*","behavior":{}}],
		"steps":[{"op":"sleep","ms":5},{"op":"list_handlers"}]}`)); err != nil {
		t.Error(err)
	}
	registered := 0
	for _, subject := range f.requests {
		if strings.HasPrefix(subject, "register.") {
			registered++
		}
	}
	if registered < 2 {
		t.Errorf("registered %d times, want a renewal: %q", registered, f.requests)
	}
}

// A case that executes runs in a session of its own, whether its data names one
// or not, and with the limits it asks for.
func TestRunGivesAnExecutingCaseItsSession(t *testing.T) {
	f, target := startFake(t)
	f.execute = func(*nats.Msg) any { return map[string]any{"action": "continue"} }
	if err := Run(t.Context(), target, oneCase(t, `{"name":"x","config":{"injection_budget_per_turn":10},"default_fields":{"who":"jürgen 🙂"},
		"steps":[
			{"op":"emit","event":"a:b","data":{}},
			{"op":"execute","event":"a:b","data":{"session_id":"s"}},
			{"op":"reset_turn"},
			{"op":"end_session"}
		]}`)); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]int{"session.end": 2, "session.turn": 1, "execute.session.start": 2} {
		if got := f.asked(subject); got != want {
			t.Errorf("%s was asked %d times, want %d: %q", subject, got, want, f.requests)
		}
	}
	ids := map[string]bool{}
	for i, h := range f.headers {
		if attribute(h, "subject") != "s" || attribute(h, "specversion") != "1.0" || attribute(h, "source") == "" {
			t.Errorf("event %d has the header %v, want one of session s", i, h)
		}
		ids[attribute(h, "id")] = true
	}
	if len(ids) != len(f.headers) {
		t.Errorf("%d events have %d ids", len(f.headers), len(ids))
	}
	if want := `{"mount_plan":{"session":{"injection_budget_per_turn":10}}}`; f.bodies[0] != want {
		t.Errorf("the session starts with %s, want %s", f.bodies[0], want)
	}
	if got, want := f.headers[1].Get(headerDefaults), `{"who":"j\u00fcrgen \ud83d\ude42"}`; got != want {
		t.Errorf("%s: %s, want %s", headerDefaults, got, want)
	}
}

func TestRunJoinsAPendingQuestion(t *testing.T) {
	f, target := startFake(t)
	f.execute = func(msg *nats.Msg) any {
		if msg.Header.Get(headerRetry) == "" {
			return map[string]any{"action": "pending"}
		}
		return map[string]any{"action": "continue"}
	}
	if err := Run(t.Context(), target, oneCase(t, `{"name":"x","op":"execute","event":"a:b","data":{},"expect":{"action":"continue"}}`)); err != nil {
		t.Error(err)
	}
	if len(f.headers) != 2 || attribute(f.headers[0], "id") != attribute(f.headers[1], "id") {
		t.Errorf("sent with the headers %v, want the same id twice", f.headers)
	}
}

func TestServesExecute(t *testing.T) {
	f, target := startFake(t)
	f.execute = func(*nats.Msg) any { return map[string]any{"action": "continue"} }
	if served, err := ServesExecute(t.Context(), target); err != nil || !served {
		t.Errorf("ServesExecute = %v, %v", served, err)
	}
	target.Prefix = "other"
	if served, err := ServesExecute(t.Context(), target); err != nil || served {
		t.Errorf("ServesExecute of nobody = %v, %v", served, err)
	}
}

func TestBusIDsAreOfTheProtocol(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	b := &bench{tag: "c12"}
	for id, want := range map[string]string{"guard": "c12-guard", "My Hook.v2": "c12-my-hook-v2", "ä": "c12--"} {
		if got := b.busID(id); got != want || !valid.MatchString(got) {
			t.Errorf("busID(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestHeaderOfAStep(t *testing.T) {
	r := &run{defaults: json.RawMessage(`{"a": "b"}`)}
	got, err := r.header(Step{Op: OpCollect, Data: json.RawMessage(`{}`), TimeoutS: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	if want := (nats.Header{headerTimeout: {"300"}, headerDefaults: {`{"a":"b"}`}}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("header = %v, want %v", got, want)
	}
}
