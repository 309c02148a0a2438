package events

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ToolTexts returns the texts in the input of the tool call in an event's data, at any depth and in
// order: commands, addresses, and what a tool writes. It leaves out the text that an edit replaces.
// If the call has several inputs, it returns the texts of all; nil if there are none.
func (o Object) ToolTexts() []string {
	call := callOf(o)
	texts := call.input.texts(nil)
	for _, other := range call.others {
		texts = other.input.texts(texts)
	}
	return texts
}

func (in toolInput) texts(texts []string) []string {
	if in.text != "" {
		texts = append(texts, in.text)
	}
	return appendTexts(texts, in.object.raw)
}

// appendTexts appends the texts of a parsed value, whose depth is bounded.
func appendTexts(texts []string, v jsontext.Value) []string {
	switch v.Kind() {
	case '"':
		if text, err := unquote(v); err == nil && text != "" {
			texts = append(texts, text)
		}
	case '[':
		for e := range elements(v) {
			texts = appendTexts(texts, e)
		}
	case '{':
		o, _ := objectOf(v)
		for name, member := range o.All() {
			if !isReplaced(name) {
				texts = appendTexts(texts, member)
			}
		}
	}
	return texts
}

// isReplaced reports whether a member of an edit holds the text to be replaced: old_string,
// oldText.
func isReplaced(name string) bool {
	return name == "old" || strings.HasPrefix(keyOf(name), "oldstr") || strings.HasPrefix(keyOf(name), "oldtext")
}
