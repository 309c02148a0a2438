package basic_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
)

// Every kind except rego loads; the error about rego names the program that has it.
func TestKinds(t *testing.T) {
	t.Parallel()
	for section, refused := range map[string]string{
		"builtin: {date-time: {}}":                            "",
		"cel: {rules: [{deny: no}]}":                          "",
		"exec: {command: [sh, -c, 'true']}":                   "",
		"http: {url: 'https://policy.example/hooks'}":         "",
		"rego: {policy: 'package p', query: 'data.p.result'}": "serve the file with hook-worker",
	} {
		file, err := workerfile.Parse("worker.yaml", []byte("hooks:\n  - id: h\n    events: [e]\n    "+section+"\n"), basic.Kinds(kind.Worker{}))
		if file != nil {
			file.Close()
		}
		switch {
		case refused == "" && err != nil:
			t.Errorf("%s: %v", section, err)
		case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%s: %v; want an error that says %q", section, err, refused)
		}
	}
}
