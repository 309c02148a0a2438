package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/local"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// within is one case replayed within this process: [run] without a router.
type within struct {
	c        Case
	hooks    *chain.Registry
	sessions map[string]*local.Session
	context  *contextManager
	journal  journal
	remove   map[string]func()
	answers  []string

	unoffered bool // an answer was none of the options
}

// TestConformanceWithin replays the suite with pkg/local: the same outcome without a router.
func TestConformanceWithin(t *testing.T) {
	t.Parallel()
	cases, err := Load("testdata/public.json")
	if err != nil {
		t.Fatal(err)
	}
	if testkit.CurrentTier(t) == testkit.Smoke {
		hurry(cases)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			keeper, err := newContextManager(c)
			if err != nil {
				t.Fatal(err)
			}
			w := &within{
				c: c, hooks: local.NewRegistry(), sessions: map[string]*local.Session{}, context: keeper, remove: map[string]func(){},
				answers: c.ApprovalAnswers,
			}
			err = w.replay(t.Context())
			if w.unoffered {
				t.Skip("an answer is none of the options: a local.Asker gives no other")
			}
			if err != nil {
				t.Errorf("case %s:\n%v", c.Name, err)
			}
		})
	}
}

// replay replays a case, and reports like [Run].
func (w *within) replay(ctx context.Context) error {
	for _, h := range w.c.Handlers {
		if err := w.register(h); err != nil {
			return err
		}
	}
	for _, c := range w.c.Contributors {
		if err := w.contribute(c); err != nil {
			return err
		}
	}
	w.defaults(w.c.DefaultFields)
	var errs []error
	for i, s := range w.c.Steps {
		o, err := w.step(ctx, s)
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s, err)
		}
		o.record = w.journal.turn()
		for _, err := range append(o.meets(s.Expect), o.problems...) {
			errs = append(errs, fmt.Errorf("step %d, %s: %w", i+1, s, err))
		}
	}
	return errors.Join(errs...)
}

func (w *within) step(ctx context.Context, s Step) (*outcome, error) {
	timeout := time.Duration(s.TimeoutS * float64(time.Second))
	switch s.Op {
	case OpEmit:
		return timed(func(o *outcome) error {
			r, err := w.hooks.Emit(ctx, s.Event, s.Data)
			return errors.Join(err, read(r.Append(nil), &o.result))
		})
	case OpExecute:
		o, err := timed(func(o *outcome) error {
			v, err := w.session(s.Data).Execute(ctx, s.Event, s.Data)
			return errors.Join(err, read(v.Append(nil), &o.result))
		})
		if err != nil {
			return nil, err
		}
		r := run{c: w.c, context: w.context}
		return o, r.act(o)
	case OpCollect:
		return timed(func(o *outcome) error {
			list, err := w.hooks.EmitAndCollect(ctx, s.Event, s.Data, timeout)
			return errors.Join(err, read(encode(list), &o.list))
		})
	case OpContributions:
		return timed(func(o *outcome) error {
			list, err := w.hooks.CollectContributions(ctx, s.Channel, timeout)
			return errors.Join(err, read(encode(list), &o.list))
		})
	case OpList:
		return timed(func(o *outcome) error { return read(encode(w.hooks.ListHandlers(s.Event)), &o.result) })
	case OpRegister:
		return &outcome{}, w.register(s.register)
	case OpUnregister:
		if remove := w.remove[s.unregister]; remove != nil {
			remove()
		}
	case OpSetDefaultFields:
		w.defaults(s.Fields)
	case OpResetTurn:
		for _, session := range w.sessions {
			if _, err := session.Execute(ctx, events.PromptSubmit, nil); err != nil {
				return nil, err
			}
		}
		w.journal.turn()
	case OpEndSession:
		w.sessions = map[string]*local.Session{}
		w.context.reset()
	case OpSleep:
		return &outcome{}, wait(ctx, time.Duration(s.MS)*time.Millisecond)
	}
	return &outcome{}, nil
}

// read decodes JSON and keeps numbers as they are written.
func read[T any](text []byte, into *T) error {
	v, err := decode(text)
	if got, ok := v.(T); ok {
		*into = got
	}
	return err
}

func (w *within) defaults(fields json.RawMessage) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(fields, &members) // an object, or none
	set := make(map[string]any, len(members))
	for name, value := range members {
		set[name] = value
	}
	w.hooks.SetDefaultFields(set)
}

// session is that of the data, or the nameless one.
func (w *within) session(data json.RawMessage) *local.Session {
	id := sessionIn(data)
	if w.sessions[id] == nil {
		o := local.Options{Limits: verdict.Limits{Size: w.c.Config.InjectionSizeLimit, Budget: w.c.Config.InjectionBudgetPerTurn}}
		if w.c.Config.ApprovalSystem == Present {
			o.Ask = w.ask
		}
		w.sessions[id] = local.NewSession(w.hooks, o)
	}
	return w.sessions[id]
}

func (w *within) ask(ctx context.Context, asked approval.Record) (string, error) {
	w.journal.asked(map[string]any{
		"prompt": asked.Prompt, "options": list(asked.Options), "default": asked.Default, "hook": asked.Hook,
		"timeout": seconds(asked.Expires.Sub(asked.Created.Time)),
	})
	answer := answerErrorPrefix + "the case has no more answers"
	if len(w.answers) > 0 {
		answer, w.answers = w.answers[0], w.answers[1:]
	}
	if answer == answerNever {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if cause, ok := strings.CutPrefix(answer, answerErrorPrefix); ok {
		return "", errors.New(cause)
	}
	if !slices.ContainsFunc(asked.Options, func(o string) bool { return strings.EqualFold(o, answer) }) {
		w.unoffered = true
	}
	return answer, nil
}

func list(texts []string) []any {
	all := []any{}
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}
