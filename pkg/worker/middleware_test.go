package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// tracing is a middleware that notes when it is entered and left.
func tracing(trace *[]string, name string) worker.Middleware {
	return func(next worker.Handler) worker.Handler {
		return func(ctx context.Context, ev worker.Event) (worker.Result, error) {
			*trace = append(*trace, name+" in "+worker.CallFrom(ctx).Hook)
			result, err := next(ctx, ev)
			*trace = append(*trace, name+" out "+string(result.Action))
			return result, err
		}
	}
}

func TestTheFirstMiddlewareIsTheOutermost(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	var trace []string
	w := b.Worker(t, worker.Options{Middleware: []worker.Middleware{tracing(&trace, "a"), tracing(&trace, "b")}})
	register(t, w, worker.Registration{ID: "guard"}, func(context.Context, worker.Event) (worker.Result, error) {
		trace = append(trace, "handler")
		return worker.Deny("no")
	})
	if answer := emit(t, b.Agent(t, "s1"), `{}`); answer.Reason != "no" {
		t.Errorf("answer %+v", answer)
	}
	if want := []string{"a in guard", "b in guard", "handler", "b out deny", "a out deny"}; !slices.Equal(trace, want) {
		t.Errorf("ran %q, want %q", trace, want)
	}
}

func TestAMiddlewareMayAnswerForTheHandler(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	closed := func(worker.Handler) worker.Handler {
		return func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("closed today") }
	}
	w := b.Worker(t, worker.Options{Middleware: []worker.Middleware{closed}})
	hook := hooktest.Script()
	register(t, w, worker.Registration{ID: "hook"}, hook.Handle)
	if answer := emit(t, b.Agent(t, "s1"), `{}`); answer.Reason != "closed today" || len(hook.Calls()) != 0 {
		t.Errorf("answer %+v, %d calls", answer, len(hook.Calls()))
	}
}

func TestATypedHandlerGetsItsType(t *testing.T) {
	t.Parallel()
	type input struct {
		N     int64           `json:"n"`
		Any   json.RawMessage `json:"any"`
		Input struct {
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	b := hooktest.Start(t)
	var got input
	var from worker.Event
	register(t, b.Worker(t), worker.Registration{ID: "typed"}, worker.Typed(func(ctx context.Context, in input) (worker.Result, error) {
		got, from = in, worker.EventFrom(ctx)
		return worker.Continue()
	}))
	emit(t, b.Agent(t, "s1"), `{"n":9007199254740993,"any":9007199254740995,"tool_input":{"command":"ls"}}`)
	if got.N != 9007199254740993 || string(got.Any) != "9007199254740995" || got.Input.Command != "ls" {
		t.Errorf("the handler got %+v", got)
	}
	if from.Name != events.ToolPre || from.Session != "s1" {
		t.Errorf("of event %+v", from)
	}
	if ev := worker.EventFrom(t.Context()); ev.Name != "" {
		t.Errorf("outside a call: %+v", ev)
	}
}

// Data that does not fit the type is an error of the hook, which says what is wrong.
func TestATypedHandlerIsNotCalledWithOtherData(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ data, want string }{
		"another type":          {`{"tool_name":7}`, "hook takes events.ToolPreData: decode data of tool:pre: "},
		"a number for a string": {`{"tool_name":"Bash","timestamp":1}`, "timestamp"},
	} {
		t.Run(sentence, func(t *testing.T) {
			called := false
			handler := worker.Typed(func(context.Context, events.ToolPreData) (worker.Result, error) {
				called = true
				return worker.Continue()
			})
			_, err := handler(t.Context(), worker.Event{Name: events.ToolPre, Data: json.RawMessage(c.data)})
			if err == nil || !strings.Contains(err.Error(), c.want) || called {
				t.Errorf("error is %v, called: %v", err, called)
			}
		})
	}
	b := hooktest.Start(t)
	register(t, b.Worker(t), worker.Registration{ID: "typed", OnFailure: worker.FailClosed}, worker.Typed(func(context.Context, events.ToolPreData) (worker.Result, error) {
		return worker.Continue()
	}))
	if answer := emit(t, b.Agent(t, "s1"), `{"tool_name":7}`); !answer.Denied() || !strings.Contains(answer.Reason, "failed (error)") {
		t.Errorf("answer %+v", answer)
	}
}

func TestRunServesAHookUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t, hooktest.Options{Listen: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, b.URL(), worker.Registration{ID: "guard", Events: []string{events.ToolPre}}, deny("no"))
	}()
	a := b.Agent(t, "s1")
	eventually(t, "the hook answers", func() bool { return emit(t, a, `{}`).Reason == "no" })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if answer := emit(t, a, `{}`); answer.Hooks != 0 {
		t.Errorf("the hook is still registered: %+v", answer)
	}
}

func TestRunLogsWhatAHandlerReturnsAsAnError(t *testing.T) {
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	b := hooktest.Start(t, hooktest.Options{Listen: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, b.URL(), worker.Registration{ID: "guard", Events: []string{events.ToolPre}}, func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Result{}, errors.New("no table")
		})
	}()
	a := b.Agent(t, "s1")
	eventually(t, "the hook is called", func() bool { return emit(t, a, `{}`).Hooks == 1 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.Contains(logged.String(), `msg="hook failed" hook=guard event=tool:pre error="no table"`) {
		t.Errorf("logged: %s", logged.String())
	}
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t, hooktest.Options{Listen: true})
	for sentence, c := range map[string]struct {
		url, id, want string
	}{
		"no server":          {"nats://127.0.0.1:1", "guard", "is a server running there?"},
		"a bad registration": {b.URL(), "a b", `hook id "a b"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := worker.Run(t.Context(), c.url, worker.Registration{ID: c.id, Events: []string{"e"}}, deny("no"))
			if err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
