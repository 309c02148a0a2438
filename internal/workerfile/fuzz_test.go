package workerfile_test

import (
	"context"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// FuzzParse parses arbitrary input. It never panics, every error has a place, and a file that loads
// has hooks whose handlers answer.
func FuzzParse(f *testing.F) {
	opts := basic.Kinds(kind.Worker{})
	delete(opts.Kinds, "exec")
	for _, text := range []string{
		good, hook(anyRule), rule("        - when: |\n            true\n          modify: {set: {a.b: '1'}, remove: [/x~1y]}\n"),
		tests("    events: [{event: a:b, data: {x: null}, after: 1h, times: 2, expect: {reason: {matches: '^a'}, hooks: {guard: told}}}]\n"),
		"hooks: [{id: a, events: ['*'], cel: {rules: [{ask: {prompt: '{{ {\"a\": {}} }}', options: [A]}}]}}]",
		"&a [*a]", "? {a: b}\n: c", "a: !!binary x", "%YAML 1.2\n---\n{}", "\"\\x41\": 'it''s'", "- - - -", "{{{{", "a: |+2\n   b\n",
	} {
		f.Add([]byte(text), []byte(`{"tool_input":{"file_path":"/etc/x"}}`))
	}
	f.Fuzz(func(t *testing.T, text, data []byte) {
		file, err := workerfile.Parse("w.yaml", text, opts)
		if err != nil {
			all := workerfile.Errors(err)
			if len(all) == 0 {
				t.Errorf("Parse failed without a place: %v", err)
			}
			for _, e := range all {
				if e.Line < 1 || e.Column < 1 {
					t.Errorf("%v: that is no place", e)
				}
				_ = e.Snippet()
			}
			return
		}
		if len(file.Hooks) == 0 {
			t.Error("a file without hooks was taken")
		}
		if _, err := events.ParseObject(data); err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for _, h := range file.Hooks {
			result, err := h.Handler(ctx, events.Event{ID: "e", Name: "tool:pre", Data: data})
			if err != nil || result.Data == nil {
				continue
			}
			if _, err := events.ParseObject(result.Data); err != nil {
				t.Errorf("hook %s made data that is none: %v: %s", h.Registration.ID, err, result.Data)
			}
		}
	})
}
