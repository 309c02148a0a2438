package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// add registers a fake.
func add(t *testing.T, r *Registry, j *journal, f fake) (unregister func()) {
	t.Helper()
	if f.Events == nil {
		f.Events = []string{events.ToolPre}
	}
	unregister, err := r.Register(f.Registration, f.hook(j))
	if err != nil {
		t.Fatal(err)
	}
	return unregister
}

func emit(t *testing.T, r *Registry, event string, data any) Result {
	t.Helper()
	result, err := r.Emit(t.Context(), event, data)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRegistryEmit(t *testing.T) {
	var r Registry
	j := &journal{}
	if got := emit(t, &r, events.ToolPre, map[string]any{"a": 1}); string(got.Data) != `{"a":1}` || got.Action != Continue {
		t.Errorf("without hooks: %+v", got)
	}
	add(t, &r, j, hook("b", modified(`{"n":2}`)))
	add(t, &r, j, hook("a", Result{}).at(1))
	add(t, &r, j, fake{Registration: Registration{ID: "other", Events: []string{events.ToolPost}}})
	if got := emit(t, &r, events.ToolPre, nil); string(got.Data) != `{"n":2}` {
		t.Errorf("answered %+v", got)
	}
	calls := j.seen()
	if len(calls) != 2 || !strings.HasPrefix(calls[0], `b{"timestamp":"`) || calls[1] != `a{"n":2}` {
		t.Errorf("called %q", calls)
	}
}

func TestRegistryUnregister(t *testing.T) {
	var r Registry
	j := &journal{}
	removeA := add(t, &r, j, hook("a", Denial("a")))
	add(t, &r, j, hook("b", Denial("b")))
	if got := emit(t, &r, events.ToolPre, nil); got.Reason != "a" {
		t.Errorf("denied by %q", got.Reason)
	}
	removeA()
	removeA()
	if got := emit(t, &r, events.ToolPre, nil); got.Reason != "b" {
		t.Errorf("denied by %q", got.Reason)
	}
	add(t, &r, j, hook("a", Denial("a again")))
	removeA() // must not touch the new one
	if diff := cmp.Diff(map[string][]string{events.ToolPre: {"b", "a"}}, r.ListHandlers("")); diff != "" {
		t.Errorf("what comes back is last (-want +got):\n%s", diff)
	}
	if got := emit(t, &r, events.ToolPre, nil); got.Reason != "b" {
		t.Errorf("denied by %q", got.Reason)
	}
}

func TestRegistryRefuses(t *testing.T) {
	var r Registry
	add(t, &r, &journal{}, hook("taken", Result{}))
	for sentence, c := range map[string]struct {
		reg  Registration
		want string
	}{
		"an id that is taken": {Registration{ID: "taken", Events: []string{"*"}}, `hook "taken" is registered already`},
		"a bad id":            {Registration{ID: "A B", Events: []string{"*"}}, `hook id "A B"`},
		"no event":            {Registration{ID: "a"}, "exactly one of events and channels"},
		"a match":             {Registration{ID: "a", Events: []string{"*"}, Match: "true"}, "this registry compiles no match"},
		"a contributor":       {Registration{ID: "a", Channels: []string{"c"}}, "channels are for Contribute"},
	} {
		t.Run(sentence, func(t *testing.T) {
			unregister, err := r.On(c.reg, func(context.Context, events.Event) (Result, error) { return Result{}, nil })
			if err == nil || !strings.Contains(err.Error(), c.want) || unregister != nil {
				t.Errorf("error is %v", err)
			}
		})
	}
	for sentence, c := range map[string]struct {
		event string
		data  any
		want  string
	}{
		"a bad event name":          {"tool pre", nil, `event name "tool pre"`},
		"data that is no object":    {events.ToolPre, []int{1}, "emit tool:pre: data must be a JSON object, not an array"},
		"data that does not encode": {events.ToolPre, func() {}, "emit tool:pre: json: unsupported type"},
		"duplicate names":           {events.ToolPre, json.RawMessage(`{"a":1,"a":2}`), `data has the name "/a" twice`},
		"a session id of a number":  {events.ToolPre, map[string]any{"session_id": 1}, "data.session_id must be a string"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := r.Emit(t.Context(), c.event, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v", err)
			}
			if _, err := r.EmitAndCollect(t.Context(), c.event, c.data, 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestRegistryDefaultFields(t *testing.T) {
	var r Registry
	j := &journal{}
	r.SetDefaultFields(map[string]any{"x": 0})
	fields := map[string]any{"user": "müller", "n": 1, "timestamp": "mine", "big": json.Number("9007199254740993")}
	r.SetDefaultFields(fields)
	fields["late"] = true
	if got := emit(t, &r, events.ToolPre, json.RawMessage(`{"n":null}`)); string(got.Data) != `{"n":null}` {
		t.Errorf("without hooks: %s", got.Data)
	}
	add(t, &r, j, hook("a", Result{}))
	var got struct {
		N         *int
		User      string
		Big       json.Number
		Timestamp time.Time
		X         *int
		Late      bool
	}
	answer := emit(t, &r, events.ToolPre, json.RawMessage(`{"n":null,"timestamp":"also mine"}`))
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		t.Fatal(err)
	}
	if got.N != nil || got.User != "müller" || got.Big != "9007199254740993" || got.X != nil || got.Late || time.Since(got.Timestamp) > time.Minute {
		t.Errorf("data is %s", answer.Data)
	}
	if list, err := r.EmitAndCollect(t.Context(), events.ToolPre, json.RawMessage(`{"n":1}`), 0); err != nil || len(list) != 0 {
		t.Errorf("%s, %v", list, err)
	}
	if last := j.seen()[1]; last != `a{"n":1}` {
		t.Errorf("collected with %s: no default fields, no time stamp", last)
	}
	r.SetDefaultFields(map[string]any{"f": func() {}})
	if _, err := r.Emit(t.Context(), events.ToolPre, nil); err == nil || !strings.Contains(err.Error(), "default fields: ") {
		t.Errorf("error is %v", err)
	}
}

func TestRegistrySessions(t *testing.T) {
	var r Registry
	j := &journal{}
	own := hook("own", Result{})
	own.SessionID = "s1"
	add(t, &r, j, own)
	add(t, &r, j, hook("all", Result{}))
	r.SetDefaultFields(map[string]any{"session_id": "s1"}) // data only: it moves nothing
	for session, want := range map[string][]string{"": {"all"}, "s1": {"own", "all"}, "s2": {"all"}} {
		before := len(j.seen())
		data := map[string]any{}
		if session != "" {
			data["session_id"] = session
		}
		emit(t, &r, events.ToolPre, data)
		var got []string
		for _, call := range j.seen()[before:] {
			id, _, _ := strings.Cut(call, "{")
			got = append(got, id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("session %q called (-want +got):\n%s", session, diff)
		}
	}
}

func TestRegistryTakesItsHooksAtTheStart(t *testing.T) {
	var r Registry
	j := &journal{}
	var removeB func()
	add(t, &r, j, hook("a", Result{}).running(func(context.Context, events.Event) (Result, error) {
		removeB()
		add(t, &r, j, hook("late", Denial("late")))
		return Result{}, nil
	}))
	removeB = add(t, &r, j, hook("b", Injection("text")))
	if got := emit(t, &r, events.ToolPre, nil); got.ContextInjection != "text" {
		t.Errorf("answered %+v", got)
	}
	if calls := j.seen(); len(calls) != 2 || !strings.HasPrefix(calls[1], "b{") {
		t.Errorf("called %q", calls)
	}
}

func TestRegistryCollect(t *testing.T) {
	var r Registry
	j := &journal{}
	add(t, &r, j, hook("b", with(Denial("no"), `{"b":1}`)).at(1))
	add(t, &r, j, hook("a", modified(`{}`)))
	add(t, &r, j, hook("none", Result{}))
	add(t, &r, j, hook("broken", modified(`{"x":1}`)).failing(errBroken).closed())
	add(t, &r, j, hook("nonsense", modified(`nonsense`)))
	// Its own time-out does not apply.
	add(t, &r, j, hook("slow", Result{}).within(1).running(func(ctx context.Context, _ events.Event) (Result, error) {
		select {
		case <-time.After(20 * time.Millisecond):
			return modified(`{"slow":1}`), nil
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}))
	got, err := r.EmitAndCollect(t.Context(), events.ToolPre, map[string]any{"n": 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]json.RawMessage{[]byte(`{}`), []byte(`{"slow":1}`), []byte(`{"b":1}`)}, got); diff != "" {
		t.Errorf("collected (-want +got):\n%s", diff)
	}
	calls := j.seen()
	slices.Sort(calls)
	want := []string{`a{"n":1}`, `broken{"n":1}`, `b{"n":1}`, `none{"n":1}`, `nonsense{"n":1}`, `slow{"n":1}`}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got, err := r.EmitAndCollect(t.Context(), "nobody:there", nil, 0); err != nil || got == nil || len(got) != 0 {
		t.Errorf("nobody gave %v, %v", got, err)
	}
}

func TestRegistryTimeouts(t *testing.T) {
	var r Registry
	release := make(chan struct{})
	defer close(release)
	add(t, &r, &journal{}, hook("a", Result{}).within(20).closed().running(stuck(release)))
	if got := emit(t, &r, events.ToolPre, nil); got.Reason != `hook "a" failed (timeout) and its on_failure is deny` {
		t.Errorf("answered %+v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := r.Emit(ctx, events.ToolPre, nil); !errors.Is(err, ErrDeadline) {
		t.Errorf("error is %v", err)
	}
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	var r Registry
	j := &journal{}
	add(t, &r, j, hook("always", Result{}))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				id := fmt.Sprintf("h%d", i)
				unregister, err := r.Register(Registration{ID: id, Events: []string{"*"}}, func(context.Context, events.Event) (Result, error) { return Result{}, nil })
				if err != nil {
					t.Error(err)
					return
				}
				r.SetDefaultFields(map[string]any{"n": n})
				if _, err := r.Emit(t.Context(), events.ToolPre, nil); err != nil {
					t.Error(err)
				}
				r.ListHandlers("")
				unregister()
			}
		})
	}
	wg.Wait()
	if calls := j.seen(); len(calls) != 8*50 {
		t.Errorf("the hook that was always there was called %d times", len(calls))
	}
	if diff := cmp.Diff(map[string][]string{events.ToolPre: {"always"}}, r.ListHandlers("")); diff != "" {
		t.Errorf("left over (-want +got):\n%s", diff)
	}
}
