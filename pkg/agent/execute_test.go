package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

const toolPreExecuted = "hooks.execute.tool.pre"

// pending is the answer that a person is being asked until the given time.
func pending(expires time.Time) answer {
	return say(fmt.Sprintf(`{"action":"pending","approval":{"id":"q1","hook":"careful","prompt":"Deploy?","expires":%q}}`, approval.At(expires)))
}

// granted is the answer that a person allowed data.
func granted(data string) answer {
	return say(fmt.Sprintf(`{"action":"continue","data":%s,"approval":{"id":"q1","hook":"careful","option":"Allow","data_sha256":%q}}`,
		data, approval.Digest([]byte(data))))
}

func inAMinute() time.Time { return time.Now().Add(time.Minute) }

func TestExecute(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	r := script(t, natstest.Conn(t, s), toolPreExecuted, say(
		`{"action":"deny","reason":"no","display":[{"message":"m","level":"warning","source":"hook:G","hook_id":"g"}],"suppress_output":["G"],"injected_tokens":7}`,
		"Hook-Chain-Id", "c1", "Hook-Count", "3", "Hook-Denied-By", "g", "Hook-Failed-Open", "a,b"))
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{Session: "s1"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	x, err := a.Execute(ctx, events.ToolPre, json.RawMessage(`{ "n" : 9007199254740993 }`))
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Execution{
		Verdict: verdict.Verdict{
			Action: verdict.Deny, Reason: "no", SuppressOutput: []string{"G"}, InjectedTokens: 7,
			Display: []verdict.Display{{Message: "m", Level: "warning", Source: "hook:G", HookID: "g"}},
		},
		Run: agent.Run{EventID: r.taken()[0].Header.Get("ce-id"), ChainID: "c1", Hooks: 3, DeniedBy: "g", FailedOpen: []string{"a", "b"}},
	}
	if diff := cmp.Diff(want, x); diff != "" || x.Permitted() {
		t.Errorf("execution (-want +got):\n%s", diff)
	}
	m := r.taken()[0]
	if string(m.Data) != `{ "n" : 9007199254740993 }` {
		t.Errorf("sent %s", m.Data)
	}
	for name, want := range map[string]string{
		"ce-type": "tool:pre", "ce-subject": "s1", "ce-source": "/agent", "Hook-Defaults": `{"session_id":"s1"}`, "Hook-Wait-Ms": "1", "Hook-Retry": "",
	} {
		if got := header(m, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if ms := header(m, "Hook-Timeout-Ms"); len(ms) != 5 || ms > "20000" {
		t.Errorf("Hook-Timeout-Ms is %q for a deadline in %v", ms, patience)
	}
}

// An event is sent again, by its id and byte for byte, until there is a verdict.
func TestExecuteSendsAgain(t *testing.T) {
	wait := pending(time.Date(2126, 1, 2, 3, 4, 5, 0, time.UTC))
	var cut answer // stands for a connection that breaks
	const data = `{"tool_name":"Bash"}`
	for sentence, c := range map[string]struct {
		before  []answer // what comes before the verdict
		unknown int      // how many of them come before an approval request is known
	}{
		"while a person thinks":                                          {[]answer{wait, wait, wait}, 1},
		"when a router can't serve yet":                                  {[]answer{refuse(503, "not yet"), refuse(503, "not yet")}, 3},
		"when the connection breaks before an approval request is known": {[]answer{cut, cut}, 3},
		"when the connection breaks while a person thinks":               {[]answer{wait, cut, cut, wait}, 1},
		"when a router can't serve while a person thinks":                {[]answer{wait, refuse(503, "not yet")}, 1},
		"when a router has too much to do while a person thinks":         {[]answer{wait, refuse(429, "too much")}, 1},
		"when a router stops while a person thinks":                      {[]answer{wait, refuse(504, "shutting down")}, 1},
		"when a router has a defect while a person thinks":               {[]answer{wait, refuse(500, "a defect")}, 1},
		"when a router can't serve first, and then a person thinks":      {[]answer{refuse(503, "not yet"), wait, wait}, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				w := wire{server: natstest.Server(t)}
				answers := append(slices.Clone(c.before), granted(data))
				for i := range answers {
					if answers[i] == nil {
						answers[i] = w.cut
					}
				}
				r := script(t, natstest.Conn(t, w.server), toolPreExecuted, answers...)
				asked := 0
				a := connect(t, hookrouter.Options{NATS: []nats.Option{nats.InProcessServer(&w), nats.ReconnectWait(time.Millisecond), nats.ReconnectJitter(0, 0)}}, agent.Options{OnPending: func(verdict.Approval) { asked++ }})
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				x, err := a.Execute(ctx, events.ToolPre, json.RawMessage(data))
				if err != nil || !x.Permitted() || string(x.Data) != data || x.Approval.Option != "Allow" {
					t.Fatalf("%+v, %v", x, err)
				}
				requests := r.taken()
				if len(requests) != len(c.before)+1 {
					t.Errorf("%d requests, want %d", len(requests), len(c.before)+1)
				}
				for i, m := range requests {
					first := requests[0]
					if string(m.Data) != data {
						t.Errorf("request %d has the body %s", i, m.Data)
					}
					for _, same := range []string{"ce-id", "ce-time", "ce-source", "ce-type", "ce-specversion"} {
						if header(m, same) == "" || header(m, same) != header(first, same) {
							t.Errorf("request %d has %s %q, the first %q", i, same, header(m, same), header(first, same))
						}
					}
					retry, wait := "1", "3000"
					if i == 0 {
						retry = ""
					}
					if i < c.unknown {
						wait = "1"
					}
					if header(m, "Hook-Retry") != retry || header(m, "Hook-Wait-Ms") != wait {
						t.Errorf("request %d has Hook-Retry %q and Hook-Wait-Ms %q", i, header(m, "Hook-Retry"), header(m, "Hook-Wait-Ms"))
					}
				}
				if person := c.unknown <= len(c.before); (asked == 1) != person || asked > 1 {
					t.Errorf("told of an approval request %d times", asked)
				}
			})
		})
	}
}

// What is no verdict to obey ends it, and permits nothing.
func TestExecuteEnds(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	wait := pending(inAMinute())
	approved := func(fields string) answer {
		return say(`{"action":"continue",` + fields + `"approval":{"id":"q1","data_sha256":"` + approval.Digest([]byte(`{"a":1}`)) + `"}}`)
	}
	for sentence, c := range map[string]struct {
		answers []answer
		code    hookrouter.Code // of the refusal
		is      error           // or what it is
		want    string
	}{
		"by a refusal":                               {[]answer{refuse(400, "bad")}, 400, nil, "execute tool:pre: bad (400)"},
		"by a time that was over":                    {[]answer{refuse(504, "late")}, 504, nil, "late"},
		"by too much to do":                          {[]answer{refuse(429, "much")}, 429, nil, "much"},
		"by other data under the same id":            {[]answer{refuse(409, "other data")}, 409, nil, "other data"},
		"by a refusal while a person thinks":         {[]answer{wait, refuse(409, "other data")}, 409, nil, "other data"},
		"by what is no verdict":                      {[]answer{say(`["continue"]`)}, 0, verdict.ErrInvalid, "read the answer"},
		"by a verdict without an action":             {[]answer{say(`{"data":{}}`)}, 0, verdict.ErrInvalid, "no action"},
		"by an approval request without a name":      {[]answer{say(`{"action":"pending"}`)}, 0, nil, "without an approval request"},
		"by other data than was approved":            {[]answer{approved(`"data":{"a":2},`)}, 0, agent.ErrOtherData, "do not proceed"},
		"by the same data in other bytes":            {[]answer{approved(`"data":{"a": 1},`)}, 0, agent.ErrOtherData, "do not proceed"},
		"by an approval that comes without its data": {[]answer{approved("")}, 0, agent.ErrOtherData, "do not proceed"},
		"by other data after a wait":                 {[]answer{wait, approved(`"data":{"a":2},`)}, 0, agent.ErrOtherData, "do not proceed"},
		"by an approval without a digest":            {[]answer{say(`{"action":"continue","data":{},"approval":{"id":"q1"}}`)}, 0, agent.ErrOtherData, "do not proceed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := script(t, natstest.Conn(t, s), toolPreExecuted, c.answers...)
			x, err := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}).Execute(t.Context(), events.ToolPre, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error is %v", err)
			}
			if code := hookrouter.CodeOf(err); code != c.code {
				t.Errorf("code is %v, want %v", code, c.code)
			}
			if x.Permitted() || !cmp.Equal(x, agent.Execution{}) {
				t.Errorf("execution is %+v", x)
			}
			if n := len(r.taken()); n != len(c.answers) {
				t.Errorf("asked %d times", n)
			}
		})
	}
	if _, err := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}).Execute(t.Context(), "tool pre", nil); err == nil {
		t.Error("a bad name was executed")
	}
}

func TestExecuteWithoutAnyRouter(t *testing.T) {
	for sentence, c := range map[string]struct {
		patience, deadline time.Duration
		is                 error
	}{
		"ends with the patience":             {200 * time.Millisecond, time.Hour, hookrouter.ErrNoRouter},
		"ends at once where there is none":   {-1, time.Hour, hookrouter.ErrNoRouter},
		"ends with the context, and says so": {time.Hour, 200 * time.Millisecond, context.DeadlineExceeded},
		"and says what was wrong too":        {time.Hour, 200 * time.Millisecond, hookrouter.ErrNoRouter},
	} {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := natstest.Server(t)
				a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s), Patience: c.patience}, agent.Options{})
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				defer cancel()
				began := time.Now()
				_, err := a.Execute(ctx, events.ToolPre, nil)
				var open *agent.PendingError
				if !errors.Is(err, c.is) || errors.As(err, &open) {
					t.Errorf("error is %v", err)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// The caller's context ends while a person thinks.
func TestExecuteLeavesAnOpenQuestion(t *testing.T) {
	for sentence, last := range map[string]answer{
		"during a wait":                   silence,
		"between two waits":               nil,
		"while a router can't serve":      refuse(503, "not yet"),
		"while the request is refused so": refuse(504, "late"),
	} {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := natstest.Server(t)
				asked := pending(inAMinute())
				if last == nil {
					last = asked
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				stop := errors.New("the user left")
				n := 0
				end := func(m *nats.Msg) {
					if n++; n == 3 || sentence == "during a wait" {
						cancel(stop)
					}
					last(m)
				}
				script(t, natstest.Conn(t, s), toolPreExecuted, asked, end)
				_, err := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}).Execute(ctx, events.ToolPre, nil)
				var open *agent.PendingError
				if !errors.As(err, &open) || open.Approval.ID != "q1" || open.Approval.Prompt != "Deploy?" || !errors.Is(err, stop) ||
					!strings.Contains(err.Error(), `approval request q1 of hook "careful" is still open`) {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}

// The client is closed while a person is asked.
func TestExecuteOnAClientThatIsClosed(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	client := natstest.Client(t, hookrouter.Options{URL: s.ClientURL()})
	script(t, natstest.Conn(t, s), toolPreExecuted, pending(inAMinute()), func(*nats.Msg) { client.Close() })
	a, err := agent.New(client, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Execute(t.Context(), events.ToolPre, nil)
	var open *agent.PendingError
	if !errors.As(err, &open) || open.Approval.ID != "q1" || !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("error is %v", err)
	}
}
