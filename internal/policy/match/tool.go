package match

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// toolType is the type of the variable tool. Its value is a map of the same names,
// so that it compares and prints as data does.
var toolType = cel.ObjectType("hookrouter.Tool")

// toolField is a field of tool.
type toolField struct {
	typ   *cel.Type
	value func(events.Tool) any
}

var toolFields = map[string]toolField{
	"name":        {cel.StringType, func(t events.Tool) any { return t.Name }},
	"class":       {cel.StringType, func(t events.Tool) any { return string(t.Class) }},
	"known":       {cel.BoolType, func(t events.Tool) any { return t.Known }},
	"partial":     {cel.BoolType, func(t events.Tool) any { return t.Partial }},
	"operation":   {cel.StringType, func(t events.Tool) any { return string(t.Operation) }},
	"command":     {cel.StringType, func(t events.Tool) any { return t.Command }},
	"cwd":         {cel.StringType, func(t events.Tool) any { return t.Cwd }},
	"path":        {cel.StringType, func(t events.Tool) any { return t.Path() }},
	"paths":       {cel.ListType(cel.StringType), func(t events.Tool) any { return t.Paths }},
	"url":         {cel.StringType, func(t events.Tool) any { return t.URL() }},
	"urls":        {cel.ListType(cel.StringType), func(t events.Tool) any { return t.URLs }},
	"server":      {cel.StringType, func(t events.Tool) any { return t.Server }},
	"server_tool": {cel.StringType, func(t events.Tool) any { return t.ServerTool }},
	"input":       {cel.MapType(cel.StringType, cel.DynType), func(events.Tool) any { return map[string]any{} }},
	"texts":       {cel.ListType(cel.StringType), func(events.Tool) any { return []string{} }},
}

// payloadFields are made of the call's input, for expressions that name one of them: reading a long
// input is most of the cost.
var payloadFields = []string{"input", "texts"}

// ToolInput is tool.input as JSON: the input of the call as an object, whatever its agent sent. A
// tool that takes a text has it as the member input.
func ToolInput(data events.Object) jsontext.Value {
	input, text := data.ToolInput()
	if text == "" {
		return input.Bytes()
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // not UTF-8, which a parsed object can't hold
		return jsontext.Value("{}")
	}
	return slices.Concat(jsontext.Value(`{"input":`), quoted, jsontext.Value("}"))
}

// usesPayload reports whether an expression may ask for one of [payloadFields]: it selects it, or takes
// the tool as a whole.
func usesPayload(a *ast.AST) bool {
	tools := ast.MatchDescendants(ast.NavigateAST(a), func(e ast.NavigableExpr) bool {
		return e.Kind() == ast.IdentKind && e.AsIdent() == "tool"
	})
	return slices.ContainsFunc(tools, func(e ast.NavigableExpr) bool {
		parent, ok := e.Parent()
		return !ok || parent.Kind() != ast.SelectKind || slices.Contains(payloadFields, parent.AsSelect().FieldName())
	})
}

// toolNames are the names of the fields in order.
var toolNames = func() []string {
	names := make([]string, 0, len(toolFields))
	for name := range toolFields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

// toolValue is the value of tool for an event; that of one which is about no tool
// has empty fields.
func toolValue(tool events.Tool) map[string]any {
	value := make(map[string]any, len(toolFields))
	for name, f := range toolFields {
		value[name] = f.value(tool)
	}
	return value
}

// noTool is shared by all events that are about no tool; it is never written to.
var noTool = toolValue(events.Tool{})

// objectTypes adds the types of tool, emitter and lineage to those that CEL has.
type objectTypes struct{ types.Provider }

// FindStructType knows them.
func (p objectTypes) FindStructType(name string) (*types.Type, bool) {
	if objectFields[name] != nil {
		return types.NewTypeTypeWithParam(cel.ObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames knows their fields.
func (p objectTypes) FindStructFieldNames(name string) ([]string, bool) {
	if fields := objectFields[name]; fields != nil {
		return slices.Sorted(maps.Keys(fields)), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType says what a field is, and how to get it.
func (p objectTypes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields := objectFields[name]
	if fields == nil {
		return p.Provider.FindStructFieldType(name, field)
	}
	typ, ok := fields[field]
	if !ok {
		return nil, false
	}
	get := func(value any) (any, error) {
		v, ok := value.(map[string]any)[field]
		if !ok {
			return nil, fmt.Errorf("no such field: %s", field)
		}
		return v, nil
	}
	isSet := func(value any) bool {
		v, err := get(value)
		if err != nil {
			return false
		}
		switch v := v.(type) {
		case []string:
			return len(v) > 0
		case map[string]any:
			return len(v) > 0
		}
		return v != "" && v != false && v != int64(0)
	}
	return &types.FieldType{Type: typ, IsSet: isSet, GetFrom: get}, true
}

// NewValue makes none of them: only an event does.
func (p objectTypes) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if objectFields[name] != nil {
		return types.NewErr("a %s can't be made in an expression", strings.ToLower(strings.TrimPrefix(name, "hookrouter.")))
	}
	return p.Provider.NewValue(name, fields)
}

// fieldHint says which fields there are, for an error that names one which isn't.
func fieldHint(expr, message string) string {
	field, undefined := strings.CutPrefix(message, "undefined field ")
	if !undefined {
		return ""
	}
	for name, typ := range map[string]*cel.Type{"emitter": emitterType, "lineage": lineageType} {
		if strings.Contains(expr, name+"."+strings.Trim(field, "'")) {
			return ": " + name + " has " + strings.Join(slices.Sorted(maps.Keys(objectFields[typ.TypeName()])), ", ")
		}
	}
	return ": tool has " + strings.Join(toolNames, ", ")
}

// toolWords refuses a comparison with a class or an operation that doesn't exist: it
// would never hold, and a guard would never be called.
type toolWords struct{}

// Name names the validator to the CEL library.
func (toolWords) Name() string { return "hookrouter.tool_words" }

// Validate looks at each == and != and in.
func (toolWords) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	words := map[string][]string{"class": {""}, "operation": {""}}
	for _, c := range events.ToolClasses() {
		words["class"] = append(words["class"], string(c))
	}
	for _, o := range events.ToolOperations() {
		words["operation"] = append(words["operation"], string(o))
	}
	eachWord(a, func(field, word ast.NavigableExpr, text string) {
		if field.Kind() != ast.SelectKind {
			return
		}
		sel := field.AsSelect()
		of, known := a.TypeMap()[sel.Operand().ID()]
		allowed := words[sel.FieldName()]
		if known && of.IsExactType(toolType) && allowed != nil && !slices.Contains(allowed, text) {
			issues.ReportErrorAtID(word.ID(), "tool.%s is never '%s', but one of %s", sel.FieldName(), text, strings.Join(allowed[1:], ", "))
		}
	})
}
