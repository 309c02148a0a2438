package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func validating(id string, priority int) worker.Registration {
	return worker.Registration{ID: id, Events: []string{"e"}, Priority: priority, Effect: chain.Validates}
}

// Neighbors that only validate wait for each other here, so that the chain would never
// end if they were called one by one.
func TestNeighborsThatValidateAreCalledAtTheSameTime(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	var all sync.WaitGroup
	all.Add(3)
	for i := range 3 {
		b.Register(t, validating(fmt.Sprintf("v%d", i), i), func(context.Context, worker.Event) (worker.Result, error) {
			all.Done()
			all.Wait()
			return worker.Inject(fmt.Sprint("text ", i))
		})
	}
	b.Register(t, worker.Registration{ID: "changes", Events: []string{"e"}, Priority: 10}, hooktest.Script(chain.Result{Action: chain.Modify, Data: raw(`{"n":2}`)}).Handle)
	seen := make(chan string, 1)
	b.Register(t, validating("after", 11), func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- string(ev.Data)
		return worker.Continue()
	})
	ctx := testkit.Within(t, 30*time.Second)
	a := b.Agent(t, "s1")
	answer, err := a.Emit(ctx, "e", raw(`{"n":1}`))
	if err != nil || answer.ContextInjection != "text 0\n\ntext 1\n\ntext 2" || string(answer.Data) != `{"n":2}` {
		t.Errorf("%+v, %v", answer, err)
	}
	if got := take(t, ctx, seen); got != `{"n":2}` {
		t.Errorf("the one after a change got %s", got)
	}
	list, err := a.Explain(ctx, "e", raw(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	var groups []int
	for _, e := range list {
		groups = append(groups, e.Group)
	}
	if !slices.Equal(groups, []int{1, 1, 1, 0, 0}) {
		t.Errorf("groups %v", groups)
	}
}

// The worker of a hook that was called beside one that denied hears that nobody waits.
func TestADiscardedCallEnds(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	inside, causes := make(chan struct{}), make(chan error, 1)
	b.Register(t, validating("denies", 1), func(context.Context, worker.Event) (worker.Result, error) {
		<-inside
		return worker.Deny("no")
	})
	b.Register(t, validating("slow", 2), func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		close(inside)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return worker.Result{}, ctx.Err()
	})
	ctx := testkit.Within(t, 30*time.Second)
	records := listen(t, b.Conn(t), "hooks.audit.w.>")
	answer, err := b.Agent(t, "s1").Emit(ctx, "e", raw(`{}`))
	if err != nil || answer.DeniedBy != "denies" {
		t.Errorf("%+v, %v", answer, err)
	}
	if err := take(t, ctx, causes); !errors.Is(err, worker.ErrInVain) {
		t.Errorf("the context of the call ended with %v", err)
	}
	var log string
	for !strings.Contains(log, `"kind":"chain.result"`) {
		log += string(next(t, ctx, records).Data)
	}
	if strings.Count(log, `"hook":"slow"`) != 1 || !strings.Contains(log, `"hook":"slow","action":"in_vain"`) {
		t.Errorf("recorded:\n%s", log)
	}
}

// BenchmarkValidate compares a chain of ten hooks that take a millisecond each, eight of
// which only validate, with the same chain one by one: the ratio of the median times. And
// five that validate, one of which asks a model, with the time that the model takes.
func BenchmarkValidate(b *testing.B) {
	const model = 800 * time.Millisecond
	bus := hooktest.Start(b)
	for _, event := range []string{"alone", "together"} {
		for i := range 10 {
			reg := worker.Registration{ID: fmt.Sprintf("%s-%d", event, i), Events: []string{event}, Priority: i}
			if event == "together" && i > 0 && i < 9 {
				reg.Effect = chain.Validates
			}
			bus.Register(b, reg, func(context.Context, worker.Event) (worker.Result, error) {
				<-time.After(time.Millisecond)
				return worker.Continue()
			})
		}
	}
	for i := range 5 { // one of them asks a model
		wait := 50 * time.Millisecond
		if i == 2 {
			wait = model
		}
		reg := worker.Registration{ID: fmt.Sprintf("model-%d", i), Events: []string{"model"}, Priority: i, Effect: chain.Validates}
		bus.Register(b, reg, func(context.Context, worker.Event) (worker.Result, error) {
			<-time.After(wait)
			return worker.Continue()
		})
	}
	a := bus.Agent(b, "s1")
	times := map[string][]time.Duration{}
	for b.Loop() {
		for _, event := range []string{"alone", "together", "model"} {
			began := time.Now()
			if answer, err := a.Emit(b.Context(), event, raw(`{}`)); err != nil || answer.Denied() || len(answer.FailedOpen) > 0 {
				b.Fatalf("%+v, %v", answer, err)
			}
			times[event] = append(times[event], time.Since(began))
		}
	}
	b.ReportMetric(float64(quantile(times["model"], 50))/float64(model), "model/slowest")
	b.ReportMetric(float64(quantile(times["together"], 50))/float64(quantile(times["alone"], 50)), "together/alone")
}
