package workerfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxTimes bounds how often a test may repeat one event.
const maxTimes = 10_000

// tests parses the section tests. hooks are the hooks of the file.
func (d *document) tests(raw []jsontext.Value, hooks []Hook) (tests []Test, err error) {
	c := testChecker{document: d, lines: map[string]int{}}
	for _, h := range hooks {
		c.hooks = append(c.hooks, h.Registration.ID)
	}
	var wrong []error
	for i, value := range raw {
		at := jsontext.Pointer("/tests").AppendToken(fmt.Sprint(i))
		test := Test{Start: defaultStart}
		err := d.decode(at, value, &test, strict)
		if err == nil {
			err = c.test(at, &test)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		tests = append(tests, test)
	}
	return tests, errors.Join(wrong...)
}

// testChecker checks the tests of a file and completes them.
type testChecker struct {
	*document
	hooks []string       // the ids of the hooks
	lines map[string]int // the line of each test, by name
}

func (c *testChecker) test(at jsontext.Pointer, t *Test) (err error) {
	t.Line = c.nearest(at).line
	if t.Name == "" {
		return c.errorAt(at, errors.New("a test needs a name: what holds"))
	}
	if first, again := c.lines[t.Name]; again {
		return c.errorAt(at+"/name", fmt.Errorf("the test in line %d already has this name", first))
	}
	c.lines[t.Name] = t.Line
	if t.Now != "" {
		if t.Start, err = time.Parse(time.RFC3339, t.Now); err != nil {
			return c.errorAt(at+"/now", errors.New("must be a time such as 2026-01-05T12:00:00Z"))
		}
	}
	if err := c.assume(at+"/assume", t.Assume); err != nil {
		return err
	}
	if err := c.facts(at, t); err != nil {
		return err
	}
	t.Warnings = c.spelling(at, t)
	switch {
	case t.Event != "" && len(t.Events) > 0:
		return c.errorAt(at+"/event", errors.New("the test has both event and events: give it one of them"))
	case t.Event != "":
		return c.step(at, &t.Step, true)
	case len(t.Events) == 0:
		return c.errorAt(at, errors.New("the test has no event: give it event, or events"))
	case t.Expect != nil || t.Data != nil || t.After != "" || t.Times != 0:
		return c.errorAt(at, errors.New("with events, data, after, times and expect stand at each of them"))
	}
	expects := func(s Step) bool { return s.Expect != nil }
	for i := range t.Events {
		at := (at + "/events").AppendToken(fmt.Sprint(i))
		if err := c.step(at, &t.Events[i], i == len(t.Events)-1 && !slices.ContainsFunc(t.Events, expects)); err != nil {
			return err
		}
	}
	return nil
}

// facts checks and completes the session and the sender of a test.
func (c *testChecker) facts(at jsontext.Pointer, t *Test) error {
	if err := events.CheckLabels(t.Labels); err != nil {
		return c.errorAt(at+"/labels", err)
	}
	if t.Emitter != nil && t.Emitter.ID == "" {
		return c.errorAt(at+"/emitter", errors.New("needs an id, such as nats agent/coder"))
	}
	if l := t.Lineage; l != nil {
		switch {
		case l.Parent == "":
			return c.errorAt(at+"/lineage", errors.New("needs the parent: the id of a session"))
		case l.Depth < 0:
			return c.errorAt(at+"/lineage/depth", errors.New("must be 1 or more"))
		}
		l.Root, l.Depth = cmp.Or(l.Root, l.Parent), cmp.Or(l.Depth, 1)
	}
	return nil
}

// spelling warns about events that are probably misspelt.
func (c *testChecker) spelling(at jsontext.Pointer, t *Test) (warnings []error) {
	check := func(at jsontext.Pointer, s Step) {
		if warning, err := checkEvent(s.Event, events.CheckName); err == nil && warning != nil {
			warnings = append(warnings, c.errorAt(at+"/event", warning))
		}
	}
	check(at, t.Step)
	for i, s := range t.Events {
		check((at + "/events").AppendToken(fmt.Sprint(i)), s)
	}
	return warnings
}

func (c *testChecker) step(at jsontext.Pointer, s *Step, mustExpect bool) (err error) {
	s.Line = c.nearest(at).line
	if _, err := checkEvent(s.Event, events.CheckName); err != nil {
		return c.errorAt(at+"/event", err)
	}
	if s.Data != nil {
		if _, err := events.ParseObject(s.Data); err != nil {
			return c.errorAt(at+"/data", err)
		}
	}
	if s.After != "" {
		if s.Wait, err = time.ParseDuration(s.After); err != nil || s.Wait < 0 {
			return c.errorAt(at+"/after", errors.New("must be a time span such as 90s, 5m or 24h"))
		}
	}
	if s.Times < 0 || s.Times > maxTimes {
		return c.errorAt(at+"/times", fmt.Errorf("must be 1 to %d, not %d", maxTimes, s.Times))
	}
	if s.Expect == nil {
		if mustExpect {
			return c.errorAt(at, errors.New("the test expects nothing: give it expect, such as {action: deny}"))
		}
		return nil
	}
	return c.expect(at+"/expect", s.Expect)
}

func (c *testChecker) expect(at jsontext.Pointer, e *Expect) error {
	switch e.Action {
	case "", chain.Continue, chain.Deny, chain.Modify, chain.InjectContext, chain.AskUser:
	default:
		return c.errorAt(at+"/action", fmt.Errorf("must be one of %s, not %q", list(texts(Effects()[:5])), e.Action))
	}
	if e.Action == "" && e.By == "" && e.Data == nil && len(e.Hooks) == 0 && e.Reason == nil && e.Inject == nil && e.Ask == nil && e.UserMessage == nil && e.Labels == nil {
		return c.errorAt(at, errors.New("expects nothing: say what must come of the event, such as {action: deny}"))
	}
	if e.Data != nil {
		if _, err := events.ParseObject(e.Data); err != nil {
			return c.errorAt(at+"/data", err)
		}
	}
	if err := events.CheckLabels(e.Labels); err != nil {
		return c.errorAt(at+"/labels", err)
	}
	for _, t := range []struct {
		name jsontext.Pointer
		text *Text
	}{{"/reason", e.Reason}, {"/inject", e.Inject}, {"/ask", e.Ask}, {"/user_message", e.UserMessage}} {
		if err := t.text.compile(); err != nil {
			return c.errorAt(at+t.name, err)
		}
	}
	if e.By != "" && !slices.Contains(c.hooks, e.By) {
		return c.errorAt(at+"/by", c.noHook(e.By))
	}
	for _, id := range slices.Sorted(maps.Keys(e.Hooks)) {
		did, at := e.Hooks[id], (at + "/hooks").AppendToken(id)
		switch {
		case !slices.Contains(c.hooks, id):
			return c.errorAt(at, c.noHook(id))
		case !slices.Contains(Effects(), did):
			return c.errorAt(at, fmt.Errorf("must be one of %s, not %q", list(texts(Effects())), did))
		}
	}
	return nil
}

func (c *testChecker) noHook(id string) error {
	if best := kind.Closest(id, c.hooks); best != "" {
		return fmt.Errorf("the file has no hook %q: did you mean %q?", id, best)
	}
	return fmt.Errorf("the file has no hook %q: its hooks are %s", id, list(c.hooks))
}

// compile checks an expected text and compiles its pattern.
func (t *Text) compile() (err error) {
	switch {
	case t == nil || t.Is != nil:
		return nil
	case t.Contains == "" && t.Matches == "":
		return errors.New("must be a text, or have contains or matches")
	case t.Matches != "":
		if t.Pattern, err = regexp.Compile(t.Matches); err != nil {
			return fmt.Errorf("matches: %w", err)
		}
	}
	return nil
}

func texts[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}
