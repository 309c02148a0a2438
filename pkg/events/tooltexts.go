package events

import (
	"bytes"
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

// appendTexts appends the texts of a value that was parsed before, in one pass.
func appendTexts(texts []string, v jsontext.Value) []string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	for {
		token, err := dec.ReadToken()
		if err != nil { // the end
			return texts
		}
		if token.Kind() != '"' {
			continue
		}
		text := token.String()
		switch in, n := dec.StackIndex(dec.StackDepth()); {
		case in == '{' && n%2 == 1: // the name of a member
			if isReplaced(text) && dec.SkipValue() != nil {
				return texts
			}
		case text != "":
			texts = append(texts, text)
		}
	}
}

// isReplaced reports whether a member of an edit holds the text to be replaced: old_string,
// oldText.
func isReplaced(name string) bool {
	return name == "old" || strings.HasPrefix(keyOf(name), "oldstr") || strings.HasPrefix(keyOf(name), "oldtext")
}
