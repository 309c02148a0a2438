package match

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/go-json-experiment/json/jsontext"
)

// maxLen is the maximum length of an expression, in characters.
const maxLen = 4096

// ErrTooCostly is wrapped by the error of an evaluation that would exceed [CostLimit].
var ErrTooCostly = errors.New("the expression is too costly for this data")

// Error is the first error in an expression.
type Error struct {
	Line, Column int    // its position, both from 1, the column in characters
	Message      string // one sentence without the position
}

// Error returns a message such as "match: 1:14: undeclared reference to 'foo'".
func (e *Error) Error() string {
	return fmt.Sprintf("match: %d:%d: %s", e.Line, e.Column, e.Message)
}

// Expr is a compiled expression of any type. It is immutable and safe for concurrent use. The zero
// Expr is not usable.
type Expr struct {
	prog        cel.Program
	out         *cel.Type
	usesData    bool
	usesTool    bool
	usesPayload bool // of the tool, see payloadFields

	eventNames []Word
	bare       bool
}

// Program is a compiled condition: an [Expr] that returns true or false. It is immutable and safe
// for concurrent use. The zero Program is not usable.
type Program struct{ expr Expr }

// Compile compiles a match expression: [InMatch].Compile.
func Compile(expr string) (*Program, error) { return InMatch.Compile(expr) }

// Compile compiles a condition. Its type must be bool; if the type is known only at run time,
// [Program.Eval] checks it. The error is an [*Error].
func (s Scope) Compile(expr string) (*Program, error) {
	e, err := s.CompileExpr(expr)
	if err != nil {
		return nil, err
	}
	if !e.out.IsExactType(cel.BoolType) && !e.out.IsExactType(cel.DynType) {
		return nil, &Error{1, 1, fmt.Sprintf("the expression must be true or false, but its type is %s", e.out)}
	}
	return &Program{*e}, nil
}

// CompileExpr compiles an expression of any type. The error is an [*Error].
func (s Scope) CompileExpr(expr string) (*Expr, error) {
	if len(expr) > 4*maxLen {
		return nil, &Error{1, 1, fmt.Sprintf("the expression is longer than %d characters", maxLen)}
	}
	env, err := s.environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expr)
	if issues.Err() != nil {
		first := firstIssue(expr, issues.Errors())
		first.Message += variableHint(expr, first.Message)
		if s == InMatch {
			first.Message += nowHint(first.Message)
		}
		return nil, first
	}
	prog, err := env.Program(ast, programOptions(env)...)
	if err != nil {
		return nil, &Error{1, 1, oneLine(err.Error())}
	}
	e := &Expr{prog: prog, out: ast.OutputType(), eventNames: eventNames(ast.NativeRep()), bare: isBare(ast.NativeRep())}
	for _, r := range ast.NativeRep().ReferenceMap() {
		e.usesData = e.usesData || r.Name == "data"
		e.usesTool = e.usesTool || r.Name == "tool"
	}
	e.usesPayload = e.usesTool && usesPayload(ast.NativeRep())
	return e, nil
}

// Eval reports whether the condition is true for the event. It returns an error if that cannot be
// determined: a missing member, operands of the wrong type, a result that is not true or false,
// data that is not a JSON object, or [ErrTooCostly].
func (p *Program) Eval(in *Input) (bool, error) {
	v, err := p.expr.eval(in)
	if err != nil {
		return false, err
	}
	b, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("match: the result is a value of type %s, not true or false", v.Type().TypeName())
	}
	return bool(b), nil
}

// EvalJSON returns the expression's value as JSON: a timestamp in RFC 3339, a duration as "1.5s",
// bytes in base64, members sorted by name. It fails for the same reasons as [Program.Eval], and if
// JSON cannot represent the value.
func (e *Expr) EvalJSON(in *Input) (jsontext.Value, error) {
	v, err := e.eval(in)
	if err != nil {
		return nil, err
	}
	return toJSON(v)
}

func (e *Expr) eval(in *Input) (ref.Val, error) {
	if e.usesData {
		if err := in.decode(); err != nil {
			return nil, err
		}
	}
	if e.usesTool {
		if err := in.makeTool(); err != nil {
			return nil, err
		}
	}
	if e.usesPayload {
		if err := in.addPayload(); err != nil {
			return nil, err
		}
	}
	v, _, err := e.prog.Eval((*variables)(in))
	if err == nil {
		return v, nil
	}
	if _, cancelled := errors.AsType[interpreter.EvalCancelledError](err); cancelled {
		return nil, fmt.Errorf("match: %w", ErrTooCostly)
	}
	return nil, fmt.Errorf("match: %w", err)
}

// firstIssue returns the issue with the lowest position in the expression.
func firstIssue(expr string, issues []*cel.Error) *Error {
	first := issues[0]
	for _, i := range issues[1:] {
		if i.Location.Line() < first.Location.Line() ||
			i.Location.Line() == first.Location.Line() && i.Location.Column() < first.Location.Column() {
			first = i
		}
	}
	// An issue with the whole expression has no position.
	return &Error{max(1, first.Location.Line()), max(0, first.Location.Column()) + 1, oneLine(first.Message) + fieldHint(expr, first.Message) + syntaxHint(first.Message)}
}

// variableHint lists the variables, for an expression that uses an unknown one.
func variableHint(expr, message string) string {
	_, name, ok := strings.Cut(message, "undeclared reference to '")
	if !ok || !strings.HasSuffix(name, "'") || name == "now'" {
		return ""
	}
	name = strings.TrimSuffix(name, "'")
	if strings.Contains(expr, name+"(") { // a function
		return ""
	}
	return ": an event has event, session_id, data, tool, labels, emitter and lineage, such as data." + name
}

// nowHint explains where now is available, for an expression that uses it elsewhere.
func nowHint(message string) string {
	if !strings.HasPrefix(message, "undeclared reference to 'now'") {
		return ""
	}
	return ": only the rules of kind cel have the time, a match is about the event alone"
}

// syntaxHint returns the CEL syntax for a common mistake, or "" if the message is about something
// else.
func syntaxHint(message string) string {
	if message == "invalid argument to has() macro" {
		return ": write has(data.x), or 'x' in data"
	}
	_, found, ok := strings.Cut(message, "Syntax error: ")
	if !ok {
		return ""
	}
	_, found, _ = strings.Cut(found, "'")
	for _, other := range [...]struct{ begin, cel string }{
		{"= ", "equal is written =="},
		{"and'", "and is written &&"},
		{"or'", "or is written ||"},
		{"not'", "not is written !"},
		{"& ", "and is written &&"},
		{"| ", "or is written ||"},
		{"#", "a comment begins with //"},
		{"\u00a0", "this space does not break (U+00A0), use a plain one"},
		{"'", "a quote is not closed"},
		{`"`, "a quote is not closed"},
		{"“", `texts stand in straight quotes: 'x' or "x"`},
		{"‘", `texts stand in straight quotes: 'x' or "x"`},
		{"”", `texts stand in straight quotes: 'x' or "x"`},
		{"’", `texts stand in straight quotes: 'x' or "x"`},
	} {
		if strings.HasPrefix(found, other.begin) {
			return ": " + other.cel
		}
	}
	return ""
}

// oneLine shortens a message of the CEL library to one sentence: its parser lists every token that
// it would have accepted.
func oneLine(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	message = strings.Replace(message, " (in container '')", "", 1)
	for _, list := range [...]string{" expecting {", " expecting <EOF>"} {
		message, _, _ = strings.Cut(message, list)
	}
	return strings.ReplaceAll(message, "'<EOF>'", "the end of the expression")
}
