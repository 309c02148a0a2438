package workerfile_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
)

// Discarding a call must do no harm: a hook that keeps state or changes something can't have
// effect: validate.
func TestEffect(t *testing.T) {
	t.Parallel()
	const harm = "this builtin has side effects or changes the data"
	for section, want := range map[string]string{
		"builtin: {limits: {rules: [{per: [session], calls: 2, within: 1h}]}}": "w.yaml:4:14: hooks[0].builtin: limits: " + harm,
		"builtin: stop-loop":           "w.yaml:4:14: hooks[0].builtin: stop-loop: " + harm,
		"builtin: notify":              "hooks[0].builtin: notify: " + harm,
		"builtin: redaction":           "hooks[0].builtin: redaction: " + harm,
		"builtin: flow-guard":          "hooks[0].builtin: flow-guard: " + harm,
		"builtin: path-guard":          "",
		"builtin: {command-guard: {}}": "",
		"cel: {rules: [{deny: x}]}":    "",
		"cel: {rules: [{when: 'true', deny: x}, {modify: {remove: [a]}}]}": "hooks[0].cel.rules[1].modify: a hook with effect: validate can't modify the data",
	} {
		for effect, refused := range map[string]bool{"effect: validate": want != "", "priority: 7": false} {
			f, err := workerfile.Parse("w.yaml", []byte("hooks:\n  - id: g\n    "+effect+"\n    "+section+"\n    events: [tool:pre]\n"), basic.Kinds(kind.Worker{Dir: t.TempDir()}))
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v; want %q", effect, section, err, want)
			}
			if err == nil {
				f.Close()
			}
		}
	}
}
