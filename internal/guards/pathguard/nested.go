package pathguard

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits on the input of a tool of an MCP server.
const (
	maxValues = 500
	maxLevels = 8
)

// nested returns the strings that may be paths in the input of an MCP tool or an unknown tool, at
// any depth, because tools have no common name for them. It is unknown whether the tool writes
// these files. whole is false if there are too many.
func nested(tool events.Tool, ev events.Event) (all []access, whole bool) {
	if tool.Class != events.ClassMCP && tool.Known {
		return nil, true
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return nil, true
	}
	whole = true
	input, _ := data.ToolInput()
	var look func(member string, value jsontext.Value, level int)
	object := func(o events.Object, level int) {
		for member, value := range o.All() {
			look(member, value, level)
		}
	}
	look = func(member string, value jsontext.Value, level int) {
		if len(all) == maxValues || level == maxLevels {
			whole = false
			return
		}
		switch value.Kind() {
		case '"':
			text := ""
			switch err := json.Unmarshal(value, &text); {
			case err != nil:
			case fileMember.MatchString(member) && isWord(text) && strings.ContainsAny(text, "*?[{"):
				names, a := filter(text)
				for _, name := range names {
					a.path, a.unsure = paths.Resolve(name, tool.Cwd), true
					all = append(all, a)
				}
			case isPath(text), fileMember.MatchString(member) && isWord(text):
				all = append(all, access{path: paths.Resolve(text, tool.Cwd), reads: true, unsure: true})
			}
			inner, unread := events.Unpacked(member, value)
			if whole = whole && !unread; inner != nil {
				look(member, inner, level+1)
			}
		case '[':
			var held []jsontext.Value
			_ = json.Unmarshal(value, &held) // it has been parsed before
			for _, v := range held {
				look(member, v, level+1)
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

// fileMember matches a member that names files, even by a single word or a pattern.
var fileMember = regexp.MustCompile(`(?i)path|file|glob|include|document|target|location`)

// isWord reports whether a text may be a file name or a pattern for names.
func isWord(text string) bool {
	return text != "" && len(text) < 256 && !strings.ContainsAny(text, " \n<>:")
}

// isPath reports whether a text may be a path, rather than prose or a URL.
func isPath(text string) bool {
	return strings.ContainsAny(text, `/\~`) && !strings.ContainsAny(text, " \n<>") && len(text) < 1024 &&
		(!strings.Contains(text, "://") || paths.IsURL(text))
}
