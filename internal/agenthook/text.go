package agenthook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// maxReason bounds what a reason quotes of a changed input, in bytes.
const maxReason = 2000

// asText is a JSON value for a model to read: a text as it is, for an object the text of the
// named member, if it has one, and anything else as JSON.
func asText(raw []byte, member ...string) string {
	value := jsontext.Value(raw)
	if value.Kind() == '"' {
		text, _ := jsontext.AppendUnquote(nil, value) // was read as JSON
		return string(text)
	}
	if o, err := events.ParseObject(value); err == nil {
		for _, name := range member {
			if text, ok := o.GetString(name); ok {
				return text
			}
		}
	}
	return string(value)
}

func quote(text string) json.RawMessage {
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	return json.RawMessage(quoted)
}

// shown are messages of hooks to the user, a line each, without terminal controls.
func shown(list ...verdict.Display) string {
	lines := make([]string, len(list))
	for i, d := range list {
		lines[i] = agent.Line(d)
	}
	return strings.Join(lines, "\n")
}

// own is a message of hook-agent itself.
func own(level chain.Level, format string, args ...any) verdict.Display {
	return verdict.Display{Level: level, Source: "hook-agent", Message: fmt.Sprintf(format, args...)}
}

// paragraphs joins the texts that are not empty.
func paragraphs(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n\n")
}
