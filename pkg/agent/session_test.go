package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// message is the JSON text of a verdict's message.
func message(content, more string) string {
	return fmt.Sprintf(`{"role":"system","content":%q%s,"metadata":{"source":"hook","hook_name":"H","hook_id":"h","event":"e","timestamp":"t"}}`, content, more)
}

func verdictOf(messages ...string) answer {
	return say(`{"action":"continue","data":{},"messages":[` + strings.Join(messages, ",") + `]}`)
}

// shown are messages as "role: content [hook]".
func shown(messages []agent.Message) []string {
	list := []string{}
	for _, m := range messages {
		line := fmt.Sprintf("%s: %s", m.Role, m.Content)
		if m.Metadata != nil {
			line += " [" + m.Metadata.HookName + "]"
		}
		list = append(list, line)
	}
	return list
}

func newSession(t *testing.T, a *agent.Agent, o agent.SessionOptions) *agent.Session {
	t.Helper()
	s, err := agent.NewSession(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSessionDeliversMessages(t *testing.T) {
	t.Parallel()
	const ephemeral, appended = `,"ephemeral":true`, `,"ephemeral":true,"append_to_last_tool_result":true`
	s := natstest.Server(t)
	user, tool := agent.Message{Role: "user", Content: "do it"}, agent.Message{Role: agent.RoleTool, Content: "done"}
	for sentence, c := range map[string]struct {
		before      []agent.Message
		messages    []string
		first, next []string // the next two model calls
	}{
		"to the context": {
			[]agent.Message{user},
			[]string{message("a", "")},
			[]string{"user: do it", "system: a [H]"},
			[]string{"user: do it", "system: a [H]"},
		},
		"for one call only": {
			[]agent.Message{user},
			[]string{message("a", ephemeral), message("b", ephemeral)},
			[]string{"user: do it", "system: a [H]", "system: b [H]"},
			[]string{"user: do it"},
		},
		"to the end of a tool's result": {
			[]agent.Message{user, tool},
			[]string{message("a", appended), message("b", appended)},
			[]string{"user: do it", "tool: done\n\na\n\nb"},
			[]string{"user: do it", "tool: done"},
		},
		"to a message of its own where the last one is no tool's": {
			[]agent.Message{tool, user},
			[]string{message("a", appended)},
			[]string{"tool: done", "user: do it", "system: a [H]"},
			[]string{"tool: done", "user: do it"},
		},
		"to a message of its own where there is none": {nil, []string{message("a", appended)}, []string{"system: a [H]"}, []string{}},
		"to the context where it is not ephemeral": {
			[]agent.Message{tool},
			[]string{message("a", `,"append_to_last_tool_result":true`)},
			[]string{"tool: done", "system: a [H]"},
			[]string{"tool: done", "system: a [H]"},
		},
		"in their order, the ephemeral ones last": {
			[]agent.Message{tool},
			[]string{message("a", ephemeral), message("b", ""), message("c", appended)},
			[]string{"tool: done", "system: b [H]", "system: a [H]", "system: c [H]"},
			[]string{"tool: done", "system: b [H]"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			script(t, natstest.Conn(t, s), toolPreExecuted, verdictOf(c.messages...))
			var memory agent.MemoryContext
			for _, m := range c.before {
				_ = memory.AddMessage(t.Context(), m)
			}
			session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}), agent.SessionOptions{Context: &memory})
			if x, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil || !x.Permitted() {
				t.Fatalf("%+v, %v", x, err)
			}
			for i, want := range [][]string{c.first, c.next} {
				got, err := session.NextCall(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, shown(got)); diff != "" {
					t.Errorf("call %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestSessionKeepsWhereAMessageComesFrom(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	script(t, natstest.Conn(t, s), toolPreExecuted, verdictOf(message("a", "")))
	var memory agent.MemoryContext
	session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}), agent.SessionOptions{Context: &memory})
	if _, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil {
		t.Fatal(err)
	}
	got, _ := memory.Messages(t.Context())
	want := []agent.Message{{Role: "system", Content: "a", Metadata: &verdict.Metadata{Source: "hook", HookName: "H", HookID: "h", Event: "e", Timestamp: "t"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	text, err := json.Marshal(got)
	if err != nil || !strings.Contains(string(text), `{"role":"system","content":"a","metadata":{"source":"hook","hook_name":"H"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// broken is a context manager and a display that fail.
type broken struct{}

func (broken) AddMessage(context.Context, agent.Message) error { return errors.New("disk full") }
func (broken) Messages(context.Context) ([]agent.Message, error) {
	return nil, errors.New("disk full")
}
func (broken) Show(context.Context, verdict.Display) error { return errors.New("no screen") }

// logged is a log and what it got.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// What a session can't deliver changes nothing for the agent, and is logged.
func TestSessionGoesOnWithoutDelivery(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	const body = `{"action":"continue","data":{},"display":[{"message":"mind the gap","level":"error","source":"hook:H"}],
		"warnings":[{"kind":"oversize","hook":"H","detail":"11 KiB"}],"messages":[%s]}`
	script(t, natstest.Conn(t, s), toolPreExecuted, say(fmt.Sprintf(body, message("hidden text", ""))))
	for sentence, c := range map[string]struct {
		o         agent.SessionOptions
		want, not []string // in the log
		screen    string
	}{
		"with nobody to deliver to": {
			agent.SessionOptions{}, []string{
				`level=WARN msg="dropped a hook's message: the session has no context manager" session_id=s1 event=e hook=H bytes=11`,
				`level=ERROR msg="a hook has a message for the user" session_id=s1 source=hook:H message="mind the gap"`,
			}, []string{"hidden text"}, "",
		},
		"with a context that fails": {
			agent.SessionOptions{Context: broken{}, Display: agent.NewTerminalDisplay(nil)},
			[]string{`level=WARN msg="could not add a hook's message to the context" session_id=s1 event=e hook=H bytes=11 error="disk full"`},
			[]string{"hidden text", "mind the gap"},
			"[error] hook:H: mind the gap\n",
		},
		"with a display that fails": {
			agent.SessionOptions{Context: &agent.MemoryContext{}, Display: broken{}},
			[]string{`level=WARN msg="could not show a hook's message" session_id=s1 source=hook:H error="no screen"`},
			[]string{"hidden text"},
			"",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			log, text := logged()
			var screen bytes.Buffer
			if c.screen != "" {
				c.o.Display = agent.NewTerminalDisplay(&screen)
			}
			session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s), Log: log}, agent.Options{Session: "s1"}), c.o)
			if x, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil || !x.Permitted() {
				t.Errorf("%+v, %v", x, err)
			}
			for _, want := range append(c.want, `level=WARN msg="the router warns of what a hook injected" session_id=s1 event=tool:pre kind=oversize hook=H detail="11 KiB"`) {
				if !strings.Contains(text.String(), want) {
					t.Errorf("the log has no %s:\n%s", want, text)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text.String(), not) {
					t.Errorf("the log has %s:\n%s", not, text)
				}
			}
			if screen.String() != c.screen {
				t.Errorf("the user sees %q", screen.String())
			}
		})
	}
}

func TestSessionKeepsEphemeralMessagesWhereItsContextCantBeRead(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	script(t, natstest.Conn(t, s), toolPreExecuted, verdictOf(message("a", `,"ephemeral":true`)))
	flaky := &flaky{fail: true}
	session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}), agent.SessionOptions{Context: flaky})
	if _, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := session.NextCall(t.Context()); err == nil || !strings.Contains(err.Error(), "read the messages of session") {
		t.Errorf("error is %v", err)
	}
	flaky.fail = false
	if got, err := session.NextCall(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// flaky is a context that can fail to be read.
type flaky struct {
	agent.MemoryContext
	fail bool
}

func (f *flaky) Messages(ctx context.Context) ([]agent.Message, error) {
	if f.fail {
		return nil, errors.New("not now")
	}
	return f.MemoryContext.Messages(ctx)
}

// careless is a context that gives its own slice away.
type careless []agent.Message

func (c careless) AddMessage(context.Context, agent.Message) error { return nil }

func (c careless) Messages(context.Context) ([]agent.Message, error) { return c, nil }

func TestSessionLeavesStoredMessagesAsTheyAre(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	script(t, natstest.Conn(t, s), toolPreExecuted, verdictOf(message("a", `,"ephemeral":true,"append_to_last_tool_result":true`)))
	stored := careless{{Role: agent.RoleTool, Content: "done"}}
	session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}), agent.SessionOptions{Context: stored})
	if _, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil {
		t.Fatal(err)
	}
	if call, err := session.NextCall(t.Context()); err != nil || call[0].Content != "done\n\na" || stored[0].Content != "done" {
		t.Errorf("calls with %v, %v; stored is %v", call, err, stored)
	}
}

func TestEphemeralMessagesAreBounded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	const many, limit = 300, 256
	var all []string
	for i := range many {
		all = append(all, message(fmt.Sprint(i), `,"ephemeral":true`))
	}
	script(t, natstest.Conn(t, s), toolPreExecuted, verdictOf(all...))
	log, text := logged()
	session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}), agent.SessionOptions{Log: log})
	if _, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil {
		t.Fatal(err)
	}
	got, err := session.NextCall(t.Context())
	if err != nil || len(got) != limit || got[limit-1].Content != fmt.Sprint(many-1) || strings.Count(text.String(), "dropped the oldest") != many-limit {
		t.Errorf("%d messages, %v, log\n%s", len(got), err, text)
	}
}

// A sub-agent has a session of its own; what hooks inject when it is done is for
// the one that it worked for.
func TestSubAgent(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	r := script(t, natstest.Conn(t, s), "hooks.execute.>", verdictOf(message("for one call", `,"ephemeral":true`), message("kept", "")))
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{Session: "parent"})
	if err := a.SetDefaultFields(map[string]any{"user": "adam"}); err != nil {
		t.Fatal(err)
	}
	parent := newSession(t, a, agent.SessionOptions{Context: &agent.MemoryContext{}})
	sub := newSession(t, a, agent.SessionOptions{ID: "sub", Parent: parent, Context: &agent.MemoryContext{}})
	calls := func(want ...int) {
		t.Helper()
		for i, session := range []*agent.Session{parent, sub} {
			if got, err := session.NextCall(t.Context()); err != nil || len(got) != want[i] {
				t.Errorf("session %s calls with %v, %v; want %d", session.ID(), shown(got), err, want[i])
			}
		}
	}
	if _, err := sub.Execute(t.Context(), events.ToolPost, nil); err != nil {
		t.Fatal(err)
	}
	calls(0, 2)
	if _, err := sub.Execute(t.Context(), events.AgentComplete, events.AgentCompleteData{ParentSessionID: "parent"}); err != nil {
		t.Fatal(err)
	}
	calls(2, 1)
	if _, err := parent.Execute(t.Context(), events.AgentComplete, nil); err != nil { // it works for nobody
		t.Fatal(err)
	}
	calls(3, 1)
	for i, want := range []string{"sub", "sub", "parent"} {
		m := r.taken()[i]
		if header(m, "ce-subject") != want || header(m, "Hook-Defaults") != `{"session_id":"`+want+`","user":"adam"}` {
			t.Errorf("request %d is of %q with %s", i, header(m, "ce-subject"), header(m, "Hook-Defaults"))
		}
	}
}

func TestTurnAndEnd(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	turn := script(t, natstest.Conn(t, s), "hooks.session.turn", say(`{}`))
	end := script(t, natstest.Conn(t, s), "hooks.session.end", refuse(503, "not yet"), say(`{}`))
	script(t, natstest.Conn(t, s), toolPreExecuted, verdictOf(message("a", `,"ephemeral":true`)))
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{Session: "s1"})
	session := newSession(t, a, agent.SessionOptions{ID: "s\n2"})
	if _, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil {
		t.Fatal(err)
	}
	for _, tell := range []func(context.Context) error{a.NewTurn, session.NewTurn, a.EndSession, session.End} {
		if err := tell(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if left, err := session.NextCall(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	for i, want := range []string{`{"session_id":"s1"}`, `{"session_id":"s\n2"}`} {
		if got := string(turn.taken()[i].Data); got != want {
			t.Errorf("turn of %s, want %s", got, want)
		}
		if got := string(end.taken()[i+1].Data); got != want { // after the one that was refused
			t.Errorf("end of %s, want %s", got, want)
		}
	}
	if err := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}).NewTurn(t.Context()); err == nil || !strings.Contains(err.Error(), "the agent has no session") {
		t.Errorf("error is %v", err)
	}
	if _, err := agent.NewSession(a, agent.SessionOptions{ID: strings.Repeat("x", 9<<10)}); err == nil {
		t.Error("an endless session id was taken")
	}
}

func TestSessionIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	script(t, natstest.Conn(t, s), toolPreExecuted, say(`{"action":"continue","display":[{"message":"m","level":"info","source":"hook:H"}],"messages":[`+
		message("a", "")+`,`+message("b", `,"ephemeral":true`)+`]}`))
	var memory agent.MemoryContext
	session := newSession(t, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}), agent.SessionOptions{Context: &memory, Display: agent.NewTerminalDisplay(io.Discard)})
	const goroutines, each = 4, 20
	var wg sync.WaitGroup
	var mu sync.Mutex
	ephemeral := 0
	for range goroutines {
		wg.Go(func() {
			for range each {
				if _, err := session.Execute(t.Context(), events.ToolPre, nil); err != nil {
					t.Error(err)
				}
				call, err := session.NextCall(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, m := range call {
					if m.Content == "b" {
						ephemeral++
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if kept, _ := memory.Messages(t.Context()); len(kept) != goroutines*each || ephemeral != goroutines*each {
		t.Errorf("%d kept, %d taken once", len(kept), ephemeral)
	}
}
