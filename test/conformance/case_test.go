package conformance

import (
	"fmt"
	"strings"
	"testing"
)

func TestLoadPublicSuite(t *testing.T) {
	cases, err := Load("testdata/public.json")
	if err != nil {
		t.Fatal(err)
	}
	executing := 0
	for _, c := range cases {
		if c.Executes() {
			executing++
		}
		if len(c.Steps) == 0 || c.Config.ContextManager == "" {
			t.Errorf("%s: defaults are not filled in: %+v", c.Name, c)
		}
	}
	if len(cases) != 378 || executing != 121 {
		t.Errorf("the suite has %d cases of which %d execute, want 378 and 121", len(cases), executing)
	}
}

func TestParseFillsDefaultsIn(t *testing.T) {
	cases, err := parse([]byte(`[{"name":"x","op":"emit","event":"a:b","data":{"n": 1.0},
		"handlers":[{"name":"guard","event":"a:b","behavior":{}}],
		"contributors":[{"name":"mod","channel":"c","behavior":{"value":null}}],
		"expect":{"reason":null}}]`))
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	if h := c.Handlers[0]; h.ID != "guard" || h.OnFailure != "continue" {
		t.Errorf("handler = %+v", h)
	}
	if c.Contributors[0].ID != "mod" || string(c.Contributors[0].Behavior.Value) != "null" {
		t.Errorf("contributor = %+v", c.Contributors[0])
	}
	if c.Config != (Config{ApprovalSystem: Present, DisplaySystem: Present, ContextManager: Present}) {
		t.Errorf("config = %+v", c.Config)
	}
	if s := c.Steps[0]; len(c.Steps) != 1 || s.Op != OpEmit || string(s.Data) != `{"n": 1.0}` || string(s.Expect["reason"]) != "null" {
		t.Errorf("steps = %+v, want the case itself with its bytes", c.Steps)
	}
}

func TestParseRefuses(t *testing.T) {
	// Each is the rest of a case that is fine with an emit in its place.
	for name, tt := range map[string]struct{ rest, want string }{
		"an unknown field":             {`"op":"emit","event":"a","data":{},"colour":1`, "colour"},
		"an unknown operation":         {`"op":"shout"`, "shout"},
		"an unknown expectation":       {`"op":"emit","event":"a","data":{},"expect":{"mood":1}`, "mood"},
		"op and steps":                 {`"op":"emit","event":"a","data":{},"steps":[{"op":"sleep"}]`, "both"},
		"no steps":                     {`"steps":[]`, "no steps"},
		"an event without data":        {`"op":"emit","event":"a"`, "no data"},
		"a handler without event":      {`"op":"sleep","handlers":[{"name":"g","behavior":{}}]`, "no event"},
		"an id twice":                  {`"op":"sleep","handlers":[{"name":"g","event":"a"},{"name":"g","event":"a"}]`, "taken"},
		"an id of hook and contrib":    {`"op":"sleep","handlers":[{"name":"g","event":"a"}],"contributors":[{"name":"g","channel":"a"}]`, "taken"},
		"an unknown on_failure":        {`"op":"sleep","handlers":[{"name":"g","event":"a","on_failure":"x"}]`, "on_failure"},
		"two behaviors at once":        {`"op":"sleep","handlers":[{"name":"g","event":"a","behavior":{"error":"","set":{}}}]`, "more than one"},
		"a value from a hook":          {`"op":"sleep","handlers":[{"name":"g","event":"a","behavior":{"value":1}}]`, "value"},
		"a set from a contributor":     {`"op":"sleep","contributors":[{"name":"g","channel":"a","behavior":{"set":{}}}]`, "set"},
		"no_responder in a sequence":   {`"op":"sleep","handlers":[{"name":"g","event":"a","behavior":{"sequence":[{"no_responder":true}]}}]`, "sequence"},
		"an unknown state of a system": {`"op":"sleep","config":{"display_system":"failing"}`, "display_system"},
		"a register without handler":   {`"op":"register"`, "register"},
		"a register with an id only":   {`"op":"register","handler":"g"`, "register"},
		"an unregister of an object":   {`"op":"unregister","handler":{}`, "unregister"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(fmt.Appendf(nil, `[{"name":"x",%s}]`, tt.rest))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("parse = %v, want an error about %q", err, tt.want)
			}
		})
	}
	for name, text := range map[string]string{
		"a name twice":      `[{"name":"x","op":"sleep"},{"name":"x","op":"sleep"}]`,
		"no name":           `[{"op":"sleep"}]`,
		"something behind":  `[] []`,
		"what is no list":   `{}`,
		"what is not there": ``,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse([]byte(text)); err == nil {
				t.Error("parse accepted it")
			}
		})
	}
}
