package pathguard

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Bounds of what is looked at in the input of a tool of an MCP server.
const (
	maxValues = 500
	maxLevels = 8
)

// nested are the texts in the input of a tool of an MCP server that may be paths, in whatever
// members, lists and objects they stand: no two servers name theirs the same way. whole is false
// where there are too many.
func nested(tool events.Tool, ev events.Event) (all []access, whole bool) {
	if tool.Class != events.ClassMCP {
		return nil, true
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return nil, true
	}
	whole = true
	input, _ := data.ToolInput()
	var look func(value jsontext.Value, level int)
	object := func(o events.Object, level int) {
		for _, value := range o.All() {
			look(value, level)
		}
	}
	look = func(value jsontext.Value, level int) {
		if len(all) == maxValues || level == maxLevels {
			whole = false
			return
		}
		switch value.Kind() {
		case '"':
			if text := ""; json.Unmarshal(value, &text) == nil && isPath(text) {
				all = append(all, access{path: paths.Resolve(text, tool.Cwd), reads: true})
			}
		case '[':
			var held []jsontext.Value
			_ = json.Unmarshal(value, &held) // it was read before
			for _, v := range held {
				look(v, level+1)
			}
		case '{':
			if inner, err := events.ParseObject(value); err == nil {
				object(inner, level+1)
			}
		}
	}
	object(input, 0)
	return all, whole
}

// isPath reports whether a text may be a path, and is none of words or an address.
func isPath(text string) bool {
	return strings.ContainsAny(text, `/\~`) && !strings.ContainsAny(text, " \n<>") && len(text) < 1024 &&
		(!strings.Contains(text, "://") || paths.IsURL(text))
}
