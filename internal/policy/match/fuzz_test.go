package match_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

// FuzzEval compiles and evaluates any input: nothing panics, every compile error has a position,
// every value is JSON, and nothing takes long.
func FuzzEval(f *testing.F) {
	for _, expr := range []string{
		`data.tool_name in ['Write', 'Edit']`, `data == data`, `data.l.all(x, x in data.l)`,
		`[[1]].map(a, [a, a]).map(a, a + a)`, `'%s %d'.format([event, 1])`, `data.s.replace('', data.s)`,
		`{'a': timestamp('2026-01-02T03:04:05Z') + duration('1h')}`, `session_id.split('').join(event)`,
		`data.s.matches('(a|b)*c')`, `has(data.x) ? data.x : data['s'][0]`, `1 / 0`, `tool.class == 'shell' && tool.paths.exists(p, p in data.l)`, `[tool, tool]`, `b'\xff'`, `"\U0001F600"`,
	} {
		f.Add(expr, []byte(`{"tool_name":"Write","l":[1,[2],{"a":null}],"s":"aé"}`))
		f.Add(expr, []byte(`{"l":[1e999,-0,1.5`))
	}
	f.Fuzz(func(t *testing.T, expr string, data []byte) {
		start := time.Now()
		e, err := match.InMatch.CompileExpr(expr)
		if err != nil {
			var at *match.Error
			if !errors.As(err, &at) || at.Line < 1 || at.Column < 1 || at.Message == "" {
				t.Fatalf("CompileExpr(%q) = %#v; want a position and a message", expr, err)
			}
			return
		}
		in := match.NewInput("tool:pre", "s1", data)
		if v, err := e.EvalJSON(in); err == nil && !v.IsValid() {
			t.Errorf("EvalJSON(%q) = %s: that is no JSON", expr, v)
		}
		if p, err := match.Compile(expr); err == nil {
			if _, err := p.Eval(in); err != nil && err.Error() == "" {
				t.Errorf("Eval(%q) failed without saying why", expr)
			}
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%q on %d bytes took %v", expr, len(data), took)
		}
	})
}

// FuzzInput decodes any input like the library that accepts events: it accepts the same objects and
// rejects everything else.
func FuzzInput(f *testing.F) {
	all, err := match.InMatch.CompileExpr(`data`)
	if err != nil {
		f.Fatal(err)
	}
	for _, data := range []string{`{}`, `{"a":[1,2.5,1e400,-0,"x",null,true,{"b":{}}]}`, `{"a":1,"a":2}`, `[`, ` { } x`, ``} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := all.EvalJSON(match.NewInput("e", "", data))
		if err == nil && len(data) > 0 && !jsontext.Value(data).IsValid() {
			t.Errorf("%q was taken as %s", data, v)
		}
	})
}
