package match

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

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

// noTool is shared by all events that are about no tool; nobody writes to it.
var noTool = toolValue(events.Tool{})

// toolTypes adds the type of tool to those that CEL has.
type toolTypes struct{ types.Provider }

// FindStructType knows the type of tool.
func (p toolTypes) FindStructType(name string) (*types.Type, bool) {
	if name == toolType.TypeName() {
		return types.NewTypeTypeWithParam(toolType), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames knows the fields of tool.
func (p toolTypes) FindStructFieldNames(name string) ([]string, bool) {
	if name == toolType.TypeName() {
		return toolNames, true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType says what a field of tool is, and how to get it.
func (p toolTypes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name != toolType.TypeName() {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := toolFields[field]
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
		list, isList := v.([]string)
		return err == nil && (isList && len(list) > 0 || !isList && v != "" && v != false)
	}
	return &types.FieldType{Type: f.typ, IsSet: isSet, GetFrom: get}, true
}

// NewValue makes no tool: only an event does.
func (p toolTypes) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if name == toolType.TypeName() {
		return types.NewErr("a tool can't be made in an expression")
	}
	return p.Provider.NewValue(name, fields)
}

// toolHint says which fields there are, for an error that names one which isn't.
func toolHint(message string) string {
	if !strings.HasPrefix(message, "undefined field ") {
		return ""
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
