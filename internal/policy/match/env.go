package match

import (
	"regexp"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// Limits on the size of an expression.
const (
	maxNodes       = 4096 // nodes after macros are expanded
	maxParserDepth = 64   // levels of nesting
	maxRegexSize   = 500  // instructions of one regular expression
)

// Scope is where an expression is used. It determines which variables and functions exist.
type Scope int

// The scopes.
const (
	InMatch Scope = iota // the match of a registration, as the protocol defines it
	InRule               // a rule of a worker file, which adds now, sets.* and base64.*
)

// environment returns the environment for the expressions of a scope. It is created on first use,
// so that a process without expressions does not pay for it.
func (s Scope) environment() (*cel.Env, error) {
	if s == InRule {
		return ruleEnvironment()
	}
	return matchEnvironment()
}

// The extensions are used in versions without a cost model of their own, so that prices charges all
// calls.
var ruleEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	env, err := matchEnvironment()
	if err != nil {
		return nil, err
	}
	return env.Extend(
		cel.Variable("now", cel.TimestampType),
		ext.Sets(ext.SetsVersion(0)),
		ext.Encoders(ext.EncodersVersion(0)),
	)
})

var matchEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	return cel.NewEnv(
		cel.CustomTypeProvider(objectTypes{registry}),
		cel.CustomTypeAdapter(registry),
		cel.Variable("event", cel.StringType),
		cel.Variable("session_id", cel.StringType),
		cel.Variable("data", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("tool", toolType),
		cel.Variable("labels", cel.ListType(cel.StringType)),
		cel.Variable("emitter", emitterType),
		cel.Variable("lineage", lineageType),
		cel.CrossTypeNumericComparisons(true),
		ext.Strings(ext.StringsVersion(4), ext.StringsMaxPrecision(100)),
		cel.ParserExpressionSizeLimit(maxLen),
		cel.ParserRecursionLimit(maxParserDepth),
		cel.ExpressionNodeLimit(maxNodes),
		cel.ASTValidators(
			literalPatterns{},
			toolWords{},
			cel.ValidateRegexProgramSizeLimit(maxRegexSize),
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
		),
	)
})

// programOptions returns the options that meter the evaluation of an expression.
func programOptions(env *cel.Env) []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize),
		cel.CostTracking(prices{}),
		cel.CostLimit(CostLimit),
		cel.CustomDecoratorV2(meter(env)),
	}
}

// literalPatterns rejects a computed regular expression: compiling it at each evaluation is slow,
// and its cost could not be known in advance.
type literalPatterns struct{}

// Name returns the name of the validator.
func (literalPatterns) Name() string { return "hookrouter.literal_patterns" }

// Validate reports every call of matches whose pattern is computed or invalid.
func (literalPatterns) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	for _, call := range ast.MatchDescendants(ast.NavigateAST(a), ast.FunctionMatcher(overloads.Matches)) {
		args := call.AsCall().Args()
		pattern := args[len(args)-1]
		if pattern.Kind() != ast.LiteralKind {
			issues.ReportErrorAtID(pattern.ID(), "the pattern of matches must be a literal, such as 'rm +-rf'")
			continue
		}
		text, _ := pattern.AsLiteral().Value().(string)
		if _, err := regexp.Compile(text); err != nil {
			issues.ReportErrorAtID(pattern.ID(), "the pattern of matches is not a valid regular expression (RE2): %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
}
