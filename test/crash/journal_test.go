package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// journal is what agents and people were told. It is safe for concurrent use.
type journal struct {
	mu       sync.Mutex // guards what follows
	answers  []answer
	accepted []accepted
	failures map[string]int // requests that were not answered, by how
}

// answer is an answer that an agent got.
type answer struct {
	agent.Run
	at                       time.Time
	execute                  bool
	sent, data               json.RawMessage // data is nil where the answer has none
	action, reason, approval string          // approval is an approval request's id and the option; empty where nobody was asked
}

// accepted is an answer of a person that a router accepted.
type accepted struct {
	at         time.Time
	id, option string
}

func (j *journal) answered(a answer) {
	a.at = time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answers = append(j.answers, a)
}

func (j *journal) failed(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failures == nil {
		j.failures = map[string]int{}
	}
	kind := "another error: " + err.Error()
	refusal, refused := errors.AsType[*hookrouter.Error](err)
	_, pending := errors.AsType[*agent.PendingError](err)
	switch {
	case refused:
		kind = fmt.Sprintf("refused with %v", int(refusal.Code))
	case pending:
		kind = "an approval request is open"
	case errors.Is(err, hookrouter.ErrConnectionLost), strings.Contains(err.Error(), "not connected"):
		kind = "lost the connection"
	case errors.Is(err, hookrouter.ErrNoRouter), errors.Is(err, nats.ErrNoResponders):
		kind = "no router"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, nats.ErrTimeout):
		kind = "no answer"
	}
	j.failures[kind]++
}

// until is what the journal had at a time.
func (j *journal) until(at time.Time) (answers []answer, decided []accepted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	answers = slices.DeleteFunc(slices.Clone(j.answers), func(a answer) bool { return !a.at.Before(at) })
	decided = slices.DeleteFunc(slices.Clone(j.accepted), func(a accepted) bool { return !a.at.Before(at) })
	return answers, decided
}

func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.answers)
}

// forget forgets what came since a time.
func (j *journal) forget(since time.Time) {
	answers, decided := j.until(since)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answers, j.accepted = answers, decided
}

// summary says how many answers of each kind there are.
func (j *journal) summary() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	counts := map[string]int{}
	for _, a := range j.answers {
		verb := "emit"
		if a.execute {
			verb = "execute"
		}
		counts[verb+" "+a.action]++
		if len(a.FailedOpen) > 0 {
			counts["failed open"]++
		}
	}
	var parts []string
	for _, kinds := range []map[string]int{counts, j.failures} {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
		}
	}
	return fmt.Sprintf("%d answers (%s), %d decisions", len(j.answers), strings.Join(parts, ", "), len(j.accepted))
}

// load is agents that emit and execute, people that decide, and the hooks.
type load struct {
	url      string
	agents   int
	patience time.Duration // of one request
	journal  *journal
	number   *atomic.Int64 // of the last event; it goes on over many loads
}

// hooks are those of the load, in their order. Each looks at the number of the event.
var hooks = []struct {
	id, registration string
	answer           func(n int64) string // "" for none
}{
	{"guard", `{"events":["tool:pre"],"priority":10,"on_failure":"deny"}`, func(n int64) string {
		if n%7 == 0 {
			return fmt.Sprintf(`{"action":"deny","reason":"%d is not allowed"}`, n)
		}
		return `{"action":"continue"}`
	}},
	{"edit", `{"events":["tool:pre"],"priority":20}`, func(n int64) string {
		if n%3 == 0 {
			return fmt.Sprintf(`{"action":"modify","reason":"marked","data":{"n":%d,"edited":true}}`, n)
		}
		return `{}`
	}},
	{"slow", `{"events":["tool:pre"],"priority":30,"timeout_ms":60,"on_failure":"continue"}`, func(n int64) string {
		if n%101 == 0 {
			return ""
		}
		return `{}`
	}},
	{"slow-guard", `{"events":["tool:pre"],"priority":40,"timeout_ms":60,"on_failure":"deny"}`, func(n int64) string {
		if n%211 == 0 {
			return ""
		}
		return `{}`
	}},
	{"notes", `{"events":["note"]}`, func(n int64) string {
		return fmt.Sprintf(`{"action":"inject_context","context_injection":"note %d"}`, n)
	}},
	{"asks", `{"events":["tool:ask"],"on_failure":"deny"}`, func(int64) string {
		return `{"action":"ask_user","approval_prompt":"Sure?","approval_options":["Allow once","Deny"]}`
	}},
}

type numbered struct {
	N int64 `json:"n"`
}

// serve answers for the hooks, and registers them. stop ends it.
func (l load) serve(t *testing.T, ctx context.Context) (stop func()) {
	t.Helper()
	nc := dial(t, l.url)
	for _, h := range hooks {
		_, err := nc.QueueSubscribe("hooks.call."+h.id, h.id, func(m *nats.Msg) {
			var ev numbered
			if err := json.Unmarshal(m.Data, &ev); err != nil {
				t.Errorf("hook %s was called with %s", h.id, m.Data)
			}
			if text := h.answer(ev.N); text != "" {
				_ = m.Respond([]byte(text)) // the connection may be lost
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Until(t, ctx, "hook "+h.id+" is registered", func() bool {
			short, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			m, err := nc.RequestWithContext(short, "hooks.register."+h.id, []byte(h.registration))
			return err == nil && code(m) == ""
		})
	}
	return nc.Close
}

// run has agents send events until ctx ends. It returns when they have all ended.
func (l load) run(t *testing.T, ctx context.Context) {
	t.Helper()
	people := dial(t, l.url)
	defer people.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range l.agents {
		nc := dial(t, l.url)
		a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: nc, Patience: l.patience}), agent.Options{
			Session:   fmt.Sprintf("s%d", i),
			OnPending: func(q verdict.Approval) { wg.Go(func() { l.decide(ctx, people, q.ID) }) },
		})
		if err != nil {
			t.Error(err)
			return
		}
		wg.Go(func() {
			defer nc.Close()
			for ctx.Err() == nil {
				l.send(ctx, a, l.number.Add(1))
			}
		})
	}
}

// send sends one event.
func (l load) send(ctx context.Context, a *agent.Agent, n int64) {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	sent := json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"event %d"}`, n, n))
	if n%10 < 7 {
		name := "tool:pre"
		if n%10 == 6 {
			name = "note"
		}
		got, err := a.Emit(ctx, name, sent)
		if err != nil {
			l.journal.failed(err)
			return
		}
		action := string(got.Action)
		if action == "" {
			action = string(chain.Continue)
		}
		l.journal.answered(answer{Run: got.Run, sent: sent, action: action, reason: got.Reason, data: got.Data})
		return
	}
	name := "tool:pre"
	if n%20 == 9 {
		name = "tool:ask"
	}
	got, err := a.Execute(ctx, name, sent)
	if err != nil {
		l.journal.failed(err)
		return
	}
	told := answer{Run: got.Run, execute: true, sent: sent, action: string(got.Action), reason: got.Reason, data: got.Data}
	if got.Approval != nil {
		told.approval = got.Approval.ID + " " + got.Approval.Option
	}
	l.journal.answered(told)
}

// decide is a person who answers an approval request, until a router accepts it.
func (l load) decide(ctx context.Context, nc *nats.Conn, id string) {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	option := [...]string{"Allow once", "Deny"}[id[len(id)-1]%2]
	testkit.Soon(ctx, func() bool {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		m, err := nc.RequestWithContext(short, "hooks.approve."+id, fmt.Appendf(nil, `{"option":%q}`, option))
		if err != nil || code(m) == "503" {
			return false
		}
		if code(m) == "" {
			l.journal.mu.Lock()
			defer l.journal.mu.Unlock()
			l.journal.accepted = append(l.journal.accepted, accepted{time.Now(), id, option})
		}
		return true // else an answer before this one, whose reply was lost
	})
}

// asked is the approval request that the answer waited for, and how a person answered it.
func (a answer) asked() (id, option string, granted bool) {
	id, option, _ = strings.Cut(a.approval, " ")
	return id, option, approval.Grants(option)
}

// String is the answer in one line.
func (a answer) String() string {
	return fmt.Sprintf("at %s chain %s: sent %.200s, told %s (%s) by %q after %d hooks, %v failed open, data %.200s, asked %q",
		a.at.Format(time.StampMicro), a.ChainID, a.sent, a.action, a.reason, a.DeniedBy, a.Hooks, a.FailedOpen, a.data, a.approval)
}

// String is the person's answer in one line.
func (a accepted) String() string {
	return fmt.Sprintf("at %s accepted %q for approval request %s", a.at.Format(time.StampMicro), a.option, a.id)
}
