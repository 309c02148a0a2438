package regohook

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// schemas are the schemas that a policy is compiled with. A member that input never has would
// silently be undefined, and a rule that refers to it would never hold. Members of data are not
// checked.
var schemas = sync.OnceValue(func() *ast.SchemaSet {
	text := map[string]any{"type": "string"}
	tool := membersOf(reflect.TypeFor[events.Tool]())
	tool["input"] = map[string]any{} // not checked, like data
	tool["texts"] = tool["paths"]
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, object(map[string]any{
		"event": text, "session_id": text, "event_id": text, "source": text, "time": text,
		"data":    map[string]any{},
		"labels":  map[string]any{"type": "array", "items": text},
		"emitter": object(map[string]any{"id": text, "name": text, "role": text, "proven": map[string]any{"type": "boolean"}}),
		"lineage": object(map[string]any{"root": text, "parent": text, "depth": map[string]any{"type": "integer"}}),
		"tool":    object(tool),
	}))
	return set
})

func object(members map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": members}
}

// membersOf returns the schemas of a struct with strings, booleans and lists of strings.
func membersOf(t reflect.Type) map[string]any {
	members := map[string]any{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch f.Type.Kind() {
		case reflect.Bool:
			members[name] = map[string]any{"type": "boolean"}
		case reflect.Slice:
			members[name] = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
		default:
			members[name] = map[string]any{"type": "string"}
		}
	}
	return members
}

// memberHint returns which members exist if a policy refers to one that input never has. It returns
// "" for other errors.
func memberHint(one *ast.Error) string {
	detail, ok := one.Details.(*ast.RefErrInvalidDetail)
	if !ok || !detail.Ref.HasPrefix(ast.InputRootRef) || len(detail.OneOf) == 0 {
		return ""
	}
	name, ok := detail.Ref[detail.Pos].Value.(ast.String)
	if !ok {
		return ""
	}
	holder := detail.Ref[:detail.Pos]
	var known []string
	for _, value := range detail.OneOf {
		if word, ok := value.(ast.String); ok {
			known = append(known, string(word))
		}
	}
	slices.Sort(known)
	if best := kind.Closest(string(name), known); best != "" {
		return fmt.Sprintf(": did you mean %s.%s?", holder, best)
	}
	hint := fmt.Sprintf(": %s has %s", holder, strings.Join(known, ", "))
	if len(holder) == 1 {
		hint += fmt.Sprintf("; what the agent sent stands in data, such as input.data.%s", string(name))
	}
	return hint
}
