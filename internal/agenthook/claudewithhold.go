package agenthook

import (
	"encoding/json"
	"regexp"
	"strings"
)

// withholdClaude returns the tool result of a PostToolUse document with all texts empty, or nil if
// there is no result. The form of the result must not change: Claude Code ignores a replacement of
// another form and shows the model the original.
func withholdClaude(document []byte) json.RawMessage {
	var call struct {
		Tool   string `json:"tool_name"`
		Result any    `json:"tool_response"`
	}
	if json.Unmarshal(document, &call) != nil || call.Result == nil {
		return nil
	}
	_, object := call.Result.(map[string]any)
	_, list := call.Result.([]any)
	mcp := strings.HasPrefix(call.Tool, "mcp__")
	switch {
	case mcp && list:
		return json.RawMessage(`[{"type":"text","text":""}]`)
	case call.Tool == "Read" && object: // also for images and documents, whose data must not be empty
		return json.RawMessage(`{"type":"text","file":{"filePath":"","content":"","numLines":0,"startLine":1,"totalLines":0}}`)
	}
	return marshal(withoutTexts(call.Result, !mcp))
}

var (
	// schemaMember matches members whose values are keywords in the schemas of Claude Code's own
	// tools.
	schemaMember = regexp.MustCompile(`^(type|mode|status|cellType|cell_type|output_type|edit_mode|language|service_tier)$`)
	schemaWord   = regexp.MustCompile(`^[A-Za-z][\w/.+-]{0,31}$`)
)

// withoutTexts returns a JSON value with all strings empty. If schema is set, it keeps schema
// keywords.
func withoutTexts(value any, schema bool) any {
	switch value := value.(type) {
	case string:
		return ""
	case []any:
		for i := range value {
			value[i] = withoutTexts(value[i], schema)
		}
	case map[string]any:
		for name, member := range value {
			text, _ := member.(string)
			if !schema || !schemaMember.MatchString(name) || !schemaWord.MatchString(text) {
				value[name] = withoutTexts(member, schema)
			}
		}
	}
	return value
}
