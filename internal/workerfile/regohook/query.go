package regohook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// The rules of a package that count.
const (
	ruleDeny   = "deny"
	ruleAllow  = "allow"
	ruleAsk    = "ask"
	ruleResult = "result"
)

// counting lists these rules. Results name them in this order.
var counting = []string{ruleResult, ruleDeny, ruleAllow, ruleAsk}

// parsedQuery is the query that is evaluated for each event.
type parsedQuery struct {
	body  ast.Body
	of    ast.Ref  // the queried rule or package
	rules []string // the queried rules, in the order of the resulting list
}

// parseQuery returns a query for the rule or the package that text names. For each rule that
// exists, the query yields a list with its value, or an empty list if it is undefined.
func parseQuery(text string, compiler *ast.Compiler) (parsedQuery, error) {
	ref, err := ast.ParseRef(cmp.Or(text, DefaultQuery))
	if err != nil || !ref.HasPrefix(ast.DefaultRootRef) || !ref.IsGround() || len(ref) < 2 {
		return parsedQuery{}, errors.New("must name a rule or a package, like data.hooks or data.authz.allow")
	}
	q := parsedQuery{of: ref}
	var terms []*ast.Term
	add := func(name string, rule ast.Ref) {
		value := ast.VarTerm("value")
		terms = append(terms, ast.ArrayComprehensionTerm(value, ast.NewBody(ast.Equality.Expr(value, ast.NewTerm(rule)))))
		q.rules = append(q.rules, name)
	}
	if len(compiler.GetRulesExact(ref)) > 0 {
		name, _ := ref[len(ref)-1].Value.(ast.String)
		add(string(name), ref)
	} else {
		for _, name := range counting {
			if rule := ref.Append(ast.StringTerm(name)); len(compiler.GetRulesForVirtualDocument(rule)) > 0 {
				add(name, rule)
			}
		}
	}
	if len(terms) == 0 {
		return parsedQuery{}, fmt.Errorf("no policy has the rule %s, nor a rule deny, allow, ask or result below it: %s", ref, meant(ref, compiler))
	}
	q.body = ast.NewBody(ast.NewExpr(ast.ArrayTerm(terms...)))
	return q, nil
}

// definitions returns the definitions of a queried rule.
func (q parsedQuery) definitions(name string, compiler *ast.Compiler) []*ast.Rule {
	ref := q.of
	if len(compiler.GetRulesExact(ref)) == 0 {
		ref = ref.Append(ast.StringTerm(name))
	}
	return compiler.GetRulesForVirtualDocument(ref)
}

// meant returns a hint for a query that finds nothing.
func meant(ref ast.Ref, compiler *ast.Compiler) string {
	for _, rule := range misspelt(ref, compiler) {
		return fmt.Sprintf("it has the rule %s: did you mean %s?", rule.name, rule.meant)
	}
	names := packages(compiler)
	if best := kind.ClosestWithin(2, ref.String(), names); best != "" && best != ref.String() {
		return fmt.Sprintf("did you mean %s?", best)
	}
	switch {
	case len(names) == 0:
		return "there is no policy"
	case len(names) > 10:
		names = append(names[:10], "…")
	}
	return "the packages are " + strings.Join(names, ", ")
}

// packages returns the names of all packages, sorted.
func packages(compiler *ast.Compiler) []string {
	var names []string
	for _, m := range compiler.Modules {
		names = append(names, m.Package.Path.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
