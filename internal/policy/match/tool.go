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

// toolType is the type of the variable tool. Its value is a map with the same names, so that it
// compares and prints like data.
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

// payloadFields are the fields built from the call's input. They are built only for expressions
// that use one of them, because parsing a long input is most of the cost.
var payloadFields = []string{"input", "texts"}

// ToolInput returns tool.input as JSON: the input of the call as an object, in whatever form its
// agent sent it. If the input is a text, it becomes the member input.
func ToolInput(data events.Object) jsontext.Value {
	input, text := data.ToolInput()
	if text == "" {
		return input.Bytes()
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // not UTF-8, which a parsed object can't contain
		return jsontext.Value("{}")
	}
	return slices.Concat(jsontext.Value(`{"input":`), quoted, jsontext.Value("}"))
}

// usesPayload reports whether an expression may use one of [payloadFields]: it selects one, or uses
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

// toolNames are the names of the fields in alphabetical order.
var toolNames = func() []string {
	names := make([]string, 0, len(toolFields))
	for name := range toolFields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

// toolValue returns the value of the variable tool. For the zero Tool, all fields are empty.
func toolValue(tool events.Tool) map[string]any {
	value := make(map[string]any, len(toolFields))
	for name, f := range toolFields {
		value[name] = f.value(tool)
	}
	return value
}

// noTool is shared by all events that are not about a tool. It must not be modified.
var noTool = toolValue(events.Tool{})

// objectTypes adds the types of tool, emitter and lineage to those of CEL.
type objectTypes struct{ types.Provider }

// FindStructType returns the type of a name.
func (p objectTypes) FindStructType(name string) (*types.Type, bool) {
	if objectFields[name] != nil {
		return types.NewTypeTypeWithParam(cel.ObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames returns the field names of a type.
func (p objectTypes) FindStructFieldNames(name string) ([]string, bool) {
	if fields := objectFields[name]; fields != nil {
		return slices.Sorted(maps.Keys(fields)), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType returns the type of a field and its accessors.
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

// NewValue returns an error for the types of this package: expressions can't create them.
func (p objectTypes) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if objectFields[name] != nil {
		return types.NewErr("a %s can't be made in an expression", strings.ToLower(strings.TrimPrefix(name, "hookrouter.")))
	}
	return p.Provider.NewValue(name, fields)
}

// fieldHint lists the fields of an object, for an error about an unknown one.
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

// toolWords rejects a comparison with a class or an operation that doesn't exist. It would never
// match, and the guard would never be called.
type toolWords struct{}

// Name returns the name of the validator.
func (toolWords) Name() string { return "hookrouter.tool_words" }

// Validate checks the operands of each ==, != and in.
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
