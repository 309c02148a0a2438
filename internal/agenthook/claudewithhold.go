package agenthook

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// withholdClaude returns the tool result of a PostToolUse document with all texts empty. ok is false
// if the result can't be found in the document. The form of the result must not change: see
// keepsForm.
func withholdClaude(document []byte) (replacement json.RawMessage, ok bool) {
	var call map[string]any
	_ = json.Unmarshal(document, &call) // nil if the document can't be read
	result, ok := call["tool_response"]
	if !ok {
		return nil, false
	}
	tool, _ := call["tool_name"].(string)
	_, object := result.(map[string]any)
	_, list := result.([]any)
	mcp := isMCP(tool)
	switch {
	case mcp && list:
		return json.RawMessage(`[{"type":"text","text":""}]`), true
	case tool == "Read" && object: // also for images and documents, whose data must not be empty
		return json.RawMessage(`{"type":"text","file":{"filePath":"","content":"","numLines":0,"startLine":1,"totalLines":0}}`), true
	}
	return marshal(withoutTexts(result, !mcp)), true
}

func isMCP(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

var (
	// schemaMember matches members whose values are keywords in the schemas of Claude Code's own
	// tools.
	schemaMember = regexp.MustCompile(`^(type|mode|status|cellType|cell_type|output_type|edit_mode|language|service_tier)$`)
	schemaWord   = regexp.MustCompile(`^[A-Za-z][\w/.+-]{0,31}$`)
)

// keyword reports whether a member is a keyword of a schema.
func keyword(name string, value any) bool {
	text, _ := value.(string)
	return schemaMember.MatchString(name) && schemaWord.MatchString(text)
}

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
			if !schema || !keyword(name, member) {
				value[name] = withoutTexts(member, schema)
			}
		}
	}
	return value
}

// keepsForm reports whether a changed result has the form of the original. Claude Code checks the
// results of its own tools against their schemas: it ignores a change of the form, and shows the
// model the original.
func keepsForm(tool string, before, now jsontext.Value) bool {
	var was, is any
	if isMCP(tool) {
		return true
	}
	return json.Unmarshal(before, &was) == nil && json.Unmarshal(now, &is) == nil && sameForm(was, is)
}

// sameForm reports whether two JSON values have the same members, types and keywords. Lists may
// differ in length.
func sameForm(was, is any) bool {
	switch was := was.(type) {
	case map[string]any:
		members, ok := is.(map[string]any)
		if !ok || len(members) != len(was) {
			return false
		}
		for name, member := range was {
			now, there := members[name]
			if !there || !sameForm(member, now) || keyword(name, member) && now != member {
				return false
			}
		}
		return true
	case []any:
		list, ok := is.([]any)
		for i, one := range list {
			alike := func(other any) bool { return sameForm(other, one) }
			if !(i < len(was) && alike(was[i])) && !slices.ContainsFunc(was, alike) {
				return false
			}
		}
		return ok
	}
	return reflect.TypeOf(was) == reflect.TypeOf(is)
}
