package chain

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// journal notes who was called, with which data.
type journal struct {
	mu    sync.Mutex // guards calls
	calls []string
}

func (j *journal) note(call string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, call)
}

// fake is a hook that notes its call and then answers.
type fake struct {
	Registration
	result Result
	err    error
	do     Hook // instead of result and err
	wants  func(*View) (bool, error)
}

func (f fake) hook(j *journal) Hook {
	return func(ctx context.Context, ev events.Event) (Result, error) {
		j.note(f.ID + string(ev.Data))
		if f.do != nil {
			return f.do(ctx, ev)
		}
		return f.result, f.err
	}
}

// chainOf puts hooks into a table, registered in the order given, and returns
// those of an event.
func chainOf(j *journal, fakes []fake) []*Entry {
	table := &Table{}
	for i, f := range fakes {
		if f.Events == nil {
			f.Events = []string{events.ToolPre}
		}
		table = table.Apply(Change{f.ID, &Entry{Registration: f.Registration, Order: uint64(i + 1), Condition: f.wants, Hook: f.hook(j)}})
	}
	return table.For(events.ToolPre, "")
}

// hook is a hook with nothing but an id and an answer.
func hook(id string, result Result) fake {
	return fake{Registration: Registration{ID: id}, result: result}
}

func (f fake) at(priority int) fake    { f.Priority = priority; return f }
func (f fake) in(mode Mode) fake       { f.Mode = mode; return f }
func (f fake) failing(err error) fake  { f.err = err; return f }
func (f fake) closed() fake            { f.OnFailure = FailClosed; return f }
func (f fake) running(do Hook) fake    { f.do = do; return f }
func (f fake) within(ms int) fake      { f.TimeoutMS = ms; return f }
func (f fake) called(name string) fake { f.Name = name; return f }
func (f fake) want(ok bool, e error) fake {
	f.wants = func(*View) (bool, error) { return ok, e }
	return f
}

func modified(data string) Result { return Result{Action: Modify, Data: json.RawMessage(data)} }

func continued(data string) Result { return Result{Action: Continue, Data: json.RawMessage(data)} }

func with(r Result, data string) Result { r.Data = json.RawMessage(data); return r }

func toolPre(data string) events.Event {
	return events.Event{ID: "1", Name: events.ToolPre, Data: json.RawMessage(data)}
}

// seen returns the calls noted so far.
func (j *journal) seen() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.calls)
}
