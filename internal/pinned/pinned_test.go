package pinned_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

const file = `
guards:
  - id: guard
    events: ["tool:*", context:pre_compact]
    priority: -5
    match: data.x == 1
`

func parse(t *testing.T, text string) *pinned.Guards {
	t.Helper()
	guards, err := pinned.Parse("guards.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return guards
}

// whole is a registration that is no less than the guard of the file.
func whole() chain.Registration {
	return chain.Registration{
		ID: "guard", Events: []string{"tool:*", "context:pre-compact", "extra"}, Priority: -5, Match: "data.x == 1", OnFailure: chain.FailClosed,
	}
}

// TestWeakerRegistrations: what is less than the guard is refused, and stops its events
// where it is registered all the same.
func TestWeakerRegistrations(t *testing.T) {
	t.Parallel()
	guards, no := parse(t, file), false
	for name, c := range map[string]struct {
		change func(*chain.Registration)
		want   string // in the error; empty for none
	}{
		"the same":                 {func(*chain.Registration) {}, ""},
		"more events":              {func(r *chain.Registration) { r.Events = []string{"*"} }, ""},
		"another name and version": {func(r *chain.Registration) { r.Name, r.Version = "other", "9.0.0" }, ""},
		"shadow":                   {func(r *chain.Registration) { r.Mode = chain.Shadow }, "mode is shadow"},
		"observe":                  {func(r *chain.Registration) { r.Mode = chain.Observe }, "mode is observe"},
		"fails open":               {func(r *chain.Registration) { r.OnFailure = "" }, "on_failure is continue"},
		"fewer events":             {func(r *chain.Registration) { r.Events = []string{"tool:pre", "context:pre-compact"} }, "tool:*"},
		"other events":             {func(r *chain.Registration) { r.Events = []string{"toolx:*", "context:pre-compact"} }, "tool:*"},
		"later in the chain":       {func(r *chain.Registration) { r.Priority = 100 }, "priority is 100, not -5"},
		"another match":            {func(r *chain.Registration) { r.Match = "false" }, "match is"},
		"one session":              {func(r *chain.Registration) { r.SessionID = "s1" }, "one session"},
		"not durable":              {func(r *chain.Registration) { r.Durable = &no }, "not durable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := whole()
			c.change(&r)
			refused := guards.CheckRegistration(r)
			table := (&chain.Table{}).Apply(chain.Change{ID: r.ID, Entry: &chain.Entry{Registration: r}})
			entries, missing := guards.InForce("tool:pre", table)
			if c.want == "" {
				if refused != nil || missing != nil || len(entries) != 1 {
					t.Errorf("refused %v, missing %v, %d entries", refused, missing, len(entries))
				}
				return
			}
			if wire.CodeOf(refused) != wire.Forbidden || !strings.Contains(refused.Error(), c.want) {
				t.Errorf("registration: %v; want code 403 with %q", refused, c.want)
			}
			if wire.CodeOf(missing) != wire.Unavailable || !strings.Contains(missing.Error(), c.want) {
				t.Errorf("event: %v; want code 503 with %q", missing, c.want)
			}
		})
	}
}

func TestOnlyTheEventsOfAGuardNeedIt(t *testing.T) {
	t.Parallel()
	guards := parse(t, file)
	for event, needs := range map[string]bool{
		"tool:pre": true, "tool:post:x": true, "context:pre-compact": true, "context:pre_compact": true, "tool": false, "prompt:submit": false,
	} {
		if _, err := guards.InForce(event, &chain.Table{}); (wire.CodeOf(err) == wire.Unavailable) != needs {
			t.Errorf("%s: %v", event, err)
		}
	}
	if err := guards.CheckRemoval("guard"); wire.CodeOf(err) != wire.Forbidden {
		t.Errorf("the guard may be removed: %v", err)
	}
	if err := guards.CheckRemoval("other"); err != nil {
		t.Error(err)
	}
	if err := guards.CheckRegistration(chain.Registration{ID: "other"}); err != nil {
		t.Error(err)
	}
	var none *pinned.Guards
	if _, err := none.InForce("tool:pre", &chain.Table{}); err != nil || none.CheckRemoval("guard") != nil || none.CheckRegistration(whole()) != nil {
		t.Errorf("without guards: %v", err)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "g.yaml:1:1: the file is empty",
		"guard: []":                          `g.yaml:1:1: unknown key "guard"`,
		"guards: x":                          "g.yaml:1:9: guards must be a list",
		"guards:\n- id: a":                   `g.yaml:2:3: guard "a": events are missing`,
		"guards:\n- {id: a, events: x}":      "events must be a list",
		"guards:\n- {id: a, event: [x]}":     `unknown key "event"`,
		"guards:\n- {id: A B, events: [x]}":  "g.yaml:2:4: ",
		"guards:\n- {id: a, events: ['a*']}": "g.yaml:2:4: ",
		"guards:\n- {id: a, events: [x], priority: low}":          "priority must be an integer",
		"guards:\n- {id: a, events: [x]}\n- {id: a, events: [y]}": `guard "a" is pinned twice`,
		"guards: [{id: a, events: [x], priority: 1.5}]":           "priority must be an integer",
	} {
		if _, err := pinned.Parse("g.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(file))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = pinned.Parse("g.yaml", text) })
}
