package hooktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestBusListensOnlyWhereAsked(t *testing.T) {
	if url := hooktest.Start(t).URL(); url != "" {
		t.Errorf("listens on %s", url)
	}
	b := hooktest.Start(t, hooktest.Options{Listen: true, Prefix: "team-a"})
	a, err := agent.New(natstest.Client(t, hookrouter.Options{URL: b.URL(), Prefix: "team-a"}), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := a.Emit(t.Context(), events.ToolPre, nil); err != nil || answer.Hooks != 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	if b.Prefix() != "team-a" {
		t.Errorf("prefix is %s", b.Prefix())
	}
}

func TestBusIsClosedOnce(t *testing.T) {
	b, err := hooktest.New(t.Context(), hooktest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	_, err := hooktest.New(t.Context(), hooktest.Options{Prefix: "Not A Prefix"})
	if err == nil || !strings.Contains(err.Error(), `start a bus: prefix "Not A Prefix"`) {
		t.Errorf("error is %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	if _, err := hooktest.New(t.Context(), hooktest.Options{}); err == nil {
		t.Error("no error without a place for its files")
	}
}

func TestRecorderJoinsEventsAndOutcomes(t *testing.T) {
	b := hooktest.Start(t)
	b.Register(t, worker.Registration{ID: "guard", Events: []string{events.ToolPre}}, hooktest.Script(chain.Denial("no")).Handle)
	b.Register(t, worker.Registration{ID: "broken", Events: []string{events.ToolPre}, Priority: -1},
		hooktest.ScriptFunc(func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Result{}, errors.New("out of order")
		}).Handle)
	recorder := b.Record(t)
	a := b.Agent(t, "s1")
	answer, err := a.Emit(t.Context(), events.ToolPre, json.RawMessage(`{"n":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.EmitAndCollect(t.Context(), events.ToolPost, nil, 0); err != nil {
		t.Fatal(err)
	}

	seen, err := recorder.WaitFor(t.Context(), func(r hooktest.Record) bool { return r.Outcome != nil })
	if err != nil {
		t.Fatal(err)
	}
	want := &hooktest.Outcome{Action: chain.Deny, Reason: "no", DeniedBy: "guard", Hooks: []hooktest.Hop{
		{ID: "broken", Failure: chain.FailedError, FailedOpen: true}, {ID: "guard", Action: chain.Deny},
	}}
	for i := range seen.Outcome.Hooks {
		seen.Outcome.Hooks[i].Micros = 0
	}
	if diff := cmp.Diff(want, seen.Outcome); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if seen.ChainID != answer.ChainID || seen.Event.ID != answer.EventID || string(seen.Event.Data) != `{"n":1}` || seen.Event.Session != "s1" {
		t.Errorf("recorded %+v, answered %+v", seen, answer)
	}
	if _, err := recorder.WaitFor(t.Context(), func(r hooktest.Record) bool { return r.Event.Name == events.ToolPost }); err != nil {
		t.Error(err)
	}
	if all := recorder.Events(); len(all) != 2 || all[1].Outcome != nil {
		t.Errorf("recorded %+v", all)
	}
}

func TestWaitForGivesUpWithItsContext(t *testing.T) {
	recorder := hooktest.Start(t).Record(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := recorder.WaitFor(ctx, func(hooktest.Record) bool { return true })
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "0 were recorded") {
		t.Errorf("error is %v", err)
	}
}

func TestScriptAnswersStepByStep(t *testing.T) {
	failure := errors.New("broken")
	for sentence, c := range map[string]struct {
		hook *hooktest.Scripted
		want []string
	}{
		"nothing written":         {hooktest.Script(), []string{"", "", ""}},
		"one answer for all":      {hooktest.Script(chain.Denial("a")), []string{"a", "a", "a"}},
		"one after the other":     {hooktest.Script(chain.Denial("a"), chain.Denial("b")), []string{"a", "b", "b"}},
		"the zero hook":           {&hooktest.Scripted{}, []string{"", "", ""}},
		"steps that do something": {hooktest.ScriptFunc(hooktest.Script(chain.Denial("a")).Handle, func(context.Context, worker.Event) (worker.Result, error) { return worker.Result{}, failure }), []string{"a", "broken", "broken"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for range c.want {
				r, err := c.hook.Handle(t.Context(), worker.Event{Name: events.ToolPre})
				text := r.Reason
				if err != nil {
					text = err.Error()
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if n := len(c.hook.Calls()); n != len(c.want) {
				t.Errorf("%d calls recorded", n)
			}
		})
	}
}

func TestValidateHandlerPasses(t *testing.T) {
	r := hooktest.ValidateHandler(t, worker.Registration{ID: "all", Events: []string{"*"}}, hooktest.Script().Handle)
	if !r.OK || len(r.Checks) < len(events.Catalog())*8 {
		t.Errorf("%d checks, ok %v", len(r.Checks), r.OK)
	}
	hooktest.ValidateContributor(t, worker.Registration{ID: "c", Channels: []string{"observability.events"}},
		func(_ context.Context, channel string) (any, error) { return []string{channel}, nil })
}

// failing is a test that notes its failures instead of failing.
type failing struct {
	testing.TB
	errors int
}

func (f *failing) Errorf(string, ...any) { f.errors++ }

func TestValidateHandlerFailsTheTest(t *testing.T) {
	f := &failing{TB: t}
	r := hooktest.ValidateHandler(f, worker.Registration{ID: "broken", Events: []string{events.ToolPre}},
		func(context.Context, worker.Event) (worker.Result, error) { panic("always") })
	if r.OK || f.errors != len(r.Failed()) || f.errors != len(r.Checks) {
		t.Errorf("%d failures of the test, %d of %d checks failed", f.errors, len(r.Failed()), len(r.Checks))
	}
}
