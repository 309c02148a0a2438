package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a dispatcher whose dependencies are fakes that note what happens, in order.
type bench struct {
	*dispatch.Dispatcher
	deps fakes
}

// fakes implement every dependency of a dispatcher.
type fakes struct {
	mu     sync.Mutex // guards what follows
	log    []string   // what was published, called, recorded and notified, in order
	lines  []byte     // of the audit log
	asked  map[string]*held.Event
	grants map[string]string // "session/hook/prompt" → approval id

	hooks    []hook
	tableErr error
	logErr   error // of Record
	decision *approval.Decision
	ahead    time.Duration // of the clock of approvals to that of this machine
	epoch    int           // of every session
	epochErr error

	frozen    *freeze.Order // all events
	frozenErr error
	meanwhile func() // happens while a hook is called
	chains    []telemetry.Chain
}

// hook is a registered hook and what it replies.
type hook struct {
	chain.Registration
	reply string
	rule  string // names it beside the reply
	err   error
	block bool // until its time is over
	takes time.Duration
}

func newBench(t *testing.T, o dispatch.Options, hooks ...hook) *bench {
	t.Helper()
	o.Approvers = (*people.People)(nil)
	if o.Workers == nil {
		o.Workers = (*identity.File)(nil)
	}
	b := &bench{}
	b.deps.hooks, b.deps.asked, b.deps.grants = hooks, map[string]*held.Event{}, map[string]string{}
	f := &b.deps
	b.Dispatcher = dispatch.New(dispatch.Dependencies{
		Freezes: f, Hooks: f, Transport: f, Sessions: f, Approvals: f, Labels: noLabels{}, Journal: f, View: recorder.View{Data: recorder.Full}, Observer: observer{f},
	}, o)
	t.Cleanup(b.Wait)
	return b
}

// request is an event of session s1 with data.
func request(t *testing.T, name, data string) dispatch.Request {
	t.Helper()
	ev, object, err := events.Decode(name, map[string][]string{}, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return dispatch.Request{Event: ev, Object: object, Wait: dispatch.DefaultWait}
}

func (f *fakes) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

// happened returns the log so far.
func (f *fakes) happened() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.log...)
}

func (f *fakes) Table() (*chain.Table, error) {
	if f.tableErr != nil {
		return nil, f.tableErr
	}
	table := &chain.Table{}
	for i, h := range f.hooks {
		if h.Events == nil && h.Channels == nil {
			h.Events = []string{"*"}
		}
		table = table.Apply(chain.Change{ID: h.ID, Entry: &chain.Entry{Registration: h.Registration, Order: uint64(i + 1)}})
	}
	return table, nil
}

func (f *fakes) Open(dispatch.Envelope) dispatch.Channel { return f }

func (f *fakes) PublishEvent([]byte) error  { f.note("event"); return nil }
func (f *fakes) PublishResult([]byte) error { f.note("result"); return nil }

func (f *fakes) Notify(call dispatch.Call) error {
	f.note("notify %s %s", call.Hook, call.Data)
	return nil
}

func (f *fakes) Call(ctx context.Context, call dispatch.Call) (dispatch.Reply, error) {
	f.note("%s %s %s", call.Mode, call.Hook, call.Data)
	if f.meanwhile != nil {
		f.meanwhile()
	}
	for _, h := range f.hooks {
		if h.ID != call.Hook {
			continue
		}
		if h.block {
			until, _ := ctx.Deadline()
			ctx, cancel := context.WithDeadline(ctx, until)
			<-ctx.Done()
			cancel()
			return dispatch.Reply{}, ctx.Err()
		}
		if h.takes > 0 {
			select {
			case <-ctx.Done():
				return dispatch.Reply{}, ctx.Err()
			case <-time.After(h.takes):
			}
		}
		return dispatch.Reply{Body: []byte(h.reply), Rule: h.rule}, h.err
	}
	return dispatch.Reply{}, chain.ErrNoResponder
}

func (f *fakes) Begin(context.Context, string, string) (bool, error) {
	f.note("turn")
	return false, nil
}

func (f *fakes) Keep(context.Context, string, time.Time, chain.ContextInjection) (bool, error) {
	return true, nil
}
func (f *fakes) End(context.Context, string) error { f.note("session ends"); return nil }
func (f *fakes) Used(string) int                   { return 0 }

func (f *fakes) Limit(_ context.Context, _ string, l verdict.Limits) error {
	f.note("limits %d %d", l.Size, l.Budget)
	return nil
}

func (f *fakes) Spend(_ context.Context, _, _, _ string, compose func(verdict.Limits, int, []chain.ContextInjection) verdict.Verdict) (verdict.Verdict, error) {
	return compose(verdict.Limits{}, 0, nil), nil
}

func (f *fakes) Revoke(_ context.Context, _, _, _ string) (int, error) { return len(f.grants), nil }

func (f *fakes) RevokeGrant(context.Context, string) (hook, prompt, session string, ok bool, err error) {
	return "", "", "", false, nil
}

func (f *fakes) Frozen(string, string) (*freeze.Order, error) { return f.frozen, f.frozenErr }

func (f *fakes) Freezes() (list []freeze.Order, err error) {
	if f.frozen != nil {
		list = append(list, *f.frozen)
	}
	return list, f.frozenErr
}

func (f *fakes) Freeze(_ context.Context, o freeze.Order) error { f.frozen = &o; return nil }

func (f *fakes) Thaw(context.Context, freeze.Order) (bool, error) {
	was := f.frozen != nil
	f.frozen = nil
	return was, nil
}

func (f *fakes) Epoch(context.Context, string) (int, error) { return f.epoch, f.epochErr }

func (f *fakes) Past(_ context.Context, s *held.Event) (bool, error) {
	return f.epoch != s.Epoch, f.epochErr
}

func (f *fakes) Decision(context.Context, *held.Event) (*approval.Decision, error) {
	return f.decision, nil
}

func (f *fakes) Granted(_ context.Context, r *held.Event) (approvalID, by string, err error) {
	return f.grants[r.Session+"/"+r.Hook+"/"+r.Prompt], "ann", nil
}

func (f *fakes) Empty() bool { return len(f.asked) == 0 }

func (f *fakes) CheckData(id, _ string, digest func() string) error {
	if s := f.asked[id]; s != nil && s.Sent != digest() {
		return wire.Errorf(wire.Conflict, "other data")
	}
	return nil
}

func (f *fakes) Find(_ context.Context, id, _, _ string) (*held.Event, error) {
	return f.asked[id], nil
}

func (f *fakes) Load(_ context.Context, id string) (*held.Event, error) {
	if s := f.asked[id]; s != nil {
		return s, nil
	}
	return nil, held.Unknown(id)
}

func (f *fakes) Ask(_ context.Context, s *held.Event) (*held.Event, bool, error) {
	f.note("ask %s", s.Prompt)
	f.asked[s.ID] = s
	return s, true, nil
}

func (f *fakes) Decide(_ context.Context, _ *held.Event, d approval.Decision, _ string) (approval.Decision, error) {
	f.note("decided by %s", d.DecidedBy)
	f.decision = &d
	return d, nil
}

func (f *fakes) Await(s *held.Event, _ time.Time, done func(*held.Event, *approval.Decision)) {
	done(s, f.decision)
}

func (f *fakes) Now() time.Time { return time.Now().Add(f.ahead) }

func (f *fakes) Masked(q approval.Request) approval.Request { return q }

func (f *fakes) Enabled() bool { return true }

func (f *fakes) Record(_ context.Context, lines []byte) error {
	if f.logErr != nil {
		return f.logErr
	}
	f.note("recorded")
	f.Note(lines)
	return nil
}

func (f *fakes) Note(lines []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, lines...)
}

// records are the audit log as kind, hook and action.
func (f *fakes) records(t *testing.T) (list []map[string]any) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	decoder := json.NewDecoder(bytes.NewReader(f.lines))
	for decoder.More() {
		record := map[string]any{}
		if err := decoder.Decode(&record); err != nil {
			t.Fatal(err)
		}
		list = append(list, record)
	}
	return list
}

var errAway = errors.New("away")

// observer notes what is counted. It traces nothing.
type observer struct{ *fakes }

func (o observer) Begin(telemetry.Sender) *telemetry.Trace { return nil }

func (o observer) Chain(_ *telemetry.Trace, c *telemetry.Chain) {
	o.note("counted")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.chains = append(o.chains, *c)
}

func (o observer) Gathered(*telemetry.Trace, *telemetry.Chain) { o.note("counted") }

func (o observer) Unawaited(*telemetry.Trace, telemetry.Answer, chain.Action, bool) {}
func (o observer) UnawaitedDropped(string)                                          {}
func (o observer) Asked(telemetry.Approval) context.Context                         { return context.Background() }

func (o observer) Granted() { o.note("granted before") }

func (o observer) Decided(ctx context.Context, _ string, _ telemetry.Approval) context.Context {
	return ctx
}

// noLabels keeps none: no hook may add one.
type noLabels struct{}

func (noLabels) Labels(string) ([]string, error) { return nil, nil }

func (noLabels) AddLabels(context.Context, string, map[string]string) ([]string, error) {
	return nil, wire.Errorf(wire.Unavailable, "this router keeps no labels")
}

func (noLabels) Session(string) labels.Record { return labels.Record{} }

func (noLabels) Claim(context.Context, string, string, string) error { return nil }

func (noLabels) AskToRemove(context.Context, string, []string) (time.Time, error) {
	return time.Now(), nil
}

func (noLabels) LabelsAgain(string, []string, time.Time) ([]string, error) { return nil, nil }

func (noLabels) RemoveLabels(context.Context, string, []string, time.Time) error { return nil }
