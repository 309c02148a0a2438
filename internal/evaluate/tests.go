package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Loader loads a worker file for a worker. It sets the worker's States and Log if they are nil.
type Loader func(kind.Worker) (*workerfile.File, error)

// Result is the result of one test, or of a single event.
type Result struct {
	Kind string        `json:"kind"` // test, event, or error: what kept others from being run
	File string        `json:"file"`
	Line int           `json:"line,omitempty"` // of the test, or of the event in its file; of an export the number of the event
	Nth  bool          `json:"-"`              // Line is such a number
	Name string        `json:"name"`
	OK   bool          `json:"ok"`
	Took time.Duration `json:"-"`
	// Wrong lists the expectations that failed, each with its place.
	Wrong []string `json:"wrong,omitempty"`
	// Warnings lists likely mistakes, each with its place.
	Warnings []string `json:"warnings,omitempty"`
	// Verdict is the last one; of a test only where something is wrong.
	Verdict *Verdict `json:"verdict,omitempty"`

	Event   string `json:"event,omitempty"` // where it is no test
	Session string `json:"session_id,omitempty"`
}

// RunTests runs the tests of a file in order, and calls each with every result. It returns the
// error of load, of each, or of ctx.
func RunTests(ctx context.Context, name string, load Loader, o Options, each func(Result) error) error {
	file, err := load(kind.Worker{})
	if err != nil {
		return err
	}
	defer file.Close()
	if !slices.ContainsFunc(file.Hooks, remembers) { // the hooks need not be rebuilt for each test
		hooks := slices.Clone(file.Hooks)
		for i := range hooks {
			hooks[i].Close = nil // file closes it
		}
		load = func(kind.Worker) (*workerfile.File, error) { return &workerfile.File{Hooks: hooks}, nil }
	}
	for _, test := range file.Tests {
		start := time.Now()
		r, err := o.run(ctx, load, test)
		if err != nil {
			return err
		}
		r.Kind, r.File, r.Line, r.Name, r.Took = "test", name, test.Line, test.Name, time.Since(start)
		if r.OK = len(r.Wrong) == 0; r.OK {
			r.Verdict = nil
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// remembers reports whether a hook's answers may depend on earlier events.
func remembers(h workerfile.Hook) bool { return h.Kind != "cel" && h.Kind != "exec" }

// run runs one test with its own hooks, up to the first event with an unexpected outcome.
func (o Options) run(ctx context.Context, load Loader, test workerfile.Test) (r Result, err error) {
	file, err := load(kind.Worker{States: &hookstate.Memory{}})
	if err != nil {
		return r, err
	}
	defer file.Close()
	hooks := newHooks(assuming(file, test.Assume), o.may, false)
	hooks.assumed = test.Assume
	r.Warnings = hooks.warnings(test)
	steps := stepsOf(test)
	now, labels := test.Start, test.Labels
	for i, step := range steps {
		now = now.Add(step.Wait)
		for n := range max(step.Times, 1) {
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			v, err := hooks.Try(kind.WithTime(ctx, now), eventOf(step, test, labels, now))
			labels = events.UnionLabels(labels, v.Labels)
			switch {
			case ctx.Err() != nil:
				return r, context.Cause(ctx)
			case err != nil:
				r.Wrong, r.Verdict = []string{undecidedText(err) + assumeHint(err)}, &v
			default:
				r.Wrong, r.Verdict = compare(step.Expect, v), &v
			}
			if len(r.Wrong) > 0 {
				for k := range r.Wrong {
					r.Wrong[k] = place(steps, i, n) + r.Wrong[k]
				}
				return r, nil
			}
		}
	}
	return r, nil
}

// stepsOf returns the events of a test.
func stepsOf(test workerfile.Test) []workerfile.Step {
	if len(test.Events) == 0 {
		return []workerfile.Step{test.Step}
	}
	return test.Events
}

// warnings returns likely mistakes in a test: a misspelt event, or an event that no hook matches in
// a step that expects nothing of the hooks.
func (c *fileHooks) warnings(test workerfile.Test) (warnings []string) {
	for _, warning := range test.Warnings {
		warnings = append(warnings, warning.Error())
	}
	for _, step := range stepsOf(test) {
		if len(c.Entries(step.Event, test.SessionID)) == 0 && (step.Expect == nil || len(step.Expect.Hooks) == 0) {
			warnings = append(warnings, fmt.Sprintf("line %d: no hook of the file wants %s", step.Line, step.Event))
		}
	}
	return warnings
}

// place names the event that went wrong, if there are several.
func place(steps []workerfile.Step, i, n int) (text string) {
	if len(steps) > 1 {
		text = fmt.Sprintf("line %d, %s: ", steps[i].Line, steps[i].Event)
	}
	if steps[i].Times > 1 {
		text += fmt.Sprintf("time %d of %d: ", n+1, steps[i].Times)
	}
	return text
}

// eventOf returns the event of a step, with what the router would know of the session. The data was
// validated when the file was read.
func eventOf(s workerfile.Step, test workerfile.Test, labels []string, now time.Time) events.Event {
	ev, _ := newEvent(s.Event, test.SessionID, json.RawMessage(s.Data), now)
	if who := test.Emitter; who != nil {
		ev = ev.WithAttr(events.AttrEmitter, who.ID).WithAttr(events.AttrRole, who.Role)
	}
	if l := test.Lineage; l != nil {
		ev = ev.WithAttr(events.AttrRoot, l.Root).WithAttr(events.AttrParent, l.Parent).WithAttr(events.AttrDepth, strconv.Itoa(l.Depth))
	}
	return ev.WithLabels(labels...)
}

// newEvent returns an event as a router would pass it to the first hook.
func newEvent(name, session string, data json.RawMessage, now time.Time) (events.Event, error) {
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	object, err := events.ParseObject(data)
	if err != nil {
		return events.Event{}, err
	}
	own, _ := object.GetString("session_id")
	ev := events.Event{ID: events.NewID(), Source: events.DefaultSource, Name: name, Session: cmp.Or(session, own), Time: events.Stamp(now), Data: data}
	if _, stamped := object.Get("timestamp"); !stamped {
		ev.Data = object.Over(events.Object{}, ev.Time)
	}
	if own != "" && own != ev.Session {
		return ev, errors.New("session_id is another one in the data")
	}
	return ev, nil
}
