package regohook_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
)

// BenchmarkPolicy compares a rule as a policy with the same rule in CEL.
func BenchmarkPolicy(b *testing.B) {
	rego, err := regohook.New(kind.Section{}, regohook.Config{Policy: "package hooks\n\ndeny contains \"no sudo\" if startswith(input.tool.command, \"sudo \")"})
	if err != nil {
		b.Fatal(err)
	}
	text := "no sudo"
	cel, err := celhook.Build(kind.Section{}, celhook.Config{Rules: []celhook.Rule{{When: "tool.command.startsWith('sudo ')", Deny: &text}}})
	if err != nil {
		b.Fatal(err)
	}
	for name, h := range map[string]kind.Handler{"rego": rego.Handler, "cel": cel.Handler} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := h(b.Context(), call("Bash")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
