package regokind

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The rules of a package that count.
const (
	ruleDeny   = "deny"
	ruleAllow  = "allow"
	ruleAsk    = "ask"
	ruleResult = "result"
)

// question is what is evaluated for each event.
type question struct {
	body  ast.Body
	rules []string // what is asked for, in the order of the list it yields
}

// questionOf makes a query of the rule or the package that text names. It yields, for
// each rule that exists, a list with its value, or without one where it is undefined.
func questionOf(text string, compiler *ast.Compiler) (question, error) {
	ref, err := ast.ParseRef(cmp.Or(text, DefaultQuery))
	if err != nil || !ref.HasPrefix(ast.DefaultRootRef) || !ref.IsGround() || len(ref) < 2 {
		return question{}, errors.New("must name a rule or a package, like data.hooks or data.authz.allow")
	}
	var q question
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
		for _, name := range [...]string{ruleResult, ruleDeny, ruleAllow, ruleAsk} {
			if rule := ref.Append(ast.StringTerm(name)); len(compiler.GetRulesForVirtualDocument(rule)) > 0 {
				add(name, rule)
			}
		}
	}
	if len(terms) == 0 {
		return question{}, fmt.Errorf("no policy has the rule %s, nor a rule deny, allow, ask or result below it: the packages are %s", ref, packages(compiler))
	}
	q.body = ast.NewBody(ast.NewExpr(ast.ArrayTerm(terms...)))
	return q, nil
}

func packages(compiler *ast.Compiler) string {
	var names []string
	for _, m := range compiler.Modules {
		names = append(names, m.Package.Path.String())
	}
	if len(names) == 0 {
		return "none: there is no policy"
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return strings.Join(names, ", ")
}
