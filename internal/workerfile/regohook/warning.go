package regohook

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
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

// openWarnings warns about the first rule that denies or asks in a hook that fails open.
func (l loader) openWarnings(at jsontext.Pointer, q parsedQuery, compiler *ast.Compiler) []error {
	for _, name := range q.rules {
		if defined := q.definitions(name, compiler); len(defined) > 0 && (name != ruleResult || decides(compiler)) {
			return []error{l.placed(at, defined[0].Location, kind.OpenWarning)}
		}
	}
	return nil
}

// decides reports whether a policy has the action deny or ask_user, which a rule result may return.
func decides(compiler *ast.Compiler) (found bool) {
	for _, m := range compiler.Modules {
		ast.WalkTerms(m, func(t *ast.Term) bool {
			text, _ := t.Value.(ast.String)
			found = found || text == ast.String(chain.Deny) || text == ast.String(chain.AskUser)
			return found
		})
	}
	return found
}
