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

// maxReason limits the quotation of a changed member in a reason, in bytes.
const maxReason = 2000

// asText returns a JSON value as text for a model: a string unquoted, for an object the string in
// the first of the named members that it has, and anything else as JSON.
func asText(raw []byte, member ...string) string {
	value := jsontext.Value(raw)
	if value.Kind() == '"' {
		text, _ := jsontext.AppendUnquote(nil, value) // parsed as JSON before
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

// noText replaces a result that hooks emptied: agents ignore an empty reason, and some then show the
// original.
const noText = "(no text)"

// instead returns the reason that replaces a result: its text, followed by the context, if any.
func instead(text string, context ...string) string {
	if strings.TrimSpace(text) == "" {
		text = noText
	}
	return strings.TrimSuffix(text+"\n\n"+paragraphs(context...), "\n\n")
}

func quote(text string) json.RawMessage {
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	return json.RawMessage(quoted)
}

// shown returns messages for the user, one per line, without terminal control characters.
func shown(list ...verdict.Display) string {
	lines := make([]string, len(list))
	for i, d := range list {
		lines[i] = agent.Line(d)
	}
	return strings.Join(lines, "\n")
}

// own returns a message of hook-agent itself.
func own(level chain.Level, format string, args ...any) verdict.Display {
	return verdict.Display{Level: level, Source: "hook-agent", Message: fmt.Sprintf(format, args...)}
}

// paragraphs joins the non-empty texts with blank lines.
func paragraphs(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n\n")
}
