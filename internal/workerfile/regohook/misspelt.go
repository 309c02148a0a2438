package regohook

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// misspelling is a rule that nothing uses, with the name that was probably meant.
type misspelling struct {
	name, meant string
	location    *ast.Location
}

// misspelt returns the rules of a package that no other rule uses and whose names are one edit away
// from one that counts, each once, sorted by name.
func misspelt(pkg ast.Ref, compiler *ast.Compiler) []misspelling {
	var all []misspelling
	for _, m := range compiler.Modules {
		if !m.Package.Path.Equal(pkg) {
			continue
		}
		for _, rule := range m.Rules {
			name := string(rule.Head.Name)
			if len(rule.Head.Args) > 0 || slices.Contains(counting, name) || len(compiler.Graph.Dependents(rule)) > 0 {
				continue
			}
			if best := kind.ClosestWithin(1, name, counting); best != "" {
				all = append(all, misspelling{name, best, rule.Location})
			}
		}
	}
	slices.SortFunc(all, func(a, b misspelling) int {
		return cmp.Or(cmp.Compare(a.name, b.name), a.location.Compare(b.location))
	})
	return slices.CompactFunc(all, func(a, b misspelling) bool { return a.name == b.name })
}

// warnings returns a warning for each rule that is probably misspelt.
func (l loader) warnings(at jsontext.Pointer, q parsedQuery, compiler *ast.Compiler) []error {
	var warnings []error
	for _, rule := range misspelt(q.of, compiler) {
		text := fmt.Sprintf("nothing reads the rule %s: did you mean %s?", rule.name, rule.meant)
		warnings = append(warnings, l.placed(at, rule.location, text))
	}
	return warnings
}
