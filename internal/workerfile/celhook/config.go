package celhook

import (
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Config is the section cel of a hook.
type Config struct {
	// Rules are tried in order; at least one.
	Rules []Rule `json:"rules"`
}

// Rule is a condition and what to answer where it holds. At most one of Deny,
// Ask, Inject and Modify is set; a rule with none of them continues.
type Rule struct {
	// When is the condition; empty means always.
	When Source `json:"when"`

	// Deny forbids the operation; its text, a template, is the reason.
	Deny *string `json:"deny" jsonschema:"minLength=1"`
	// Ask asks a person.
	Ask *Ask `json:"ask"`
	// Inject adds text to the agent's context.
	Inject *Inject `json:"inject"`
	// Modify changes the data.
	Modify *Modify `json:"modify"`

	// Labels are added to the event's session, with any action: what it has seen.
	Labels []string `json:"labels" jsonschema:"minItems=1,uniqueItems=true"`

	// UserMessage is shown to the user, with any action; a template.
	UserMessage string `json:"user_message"`
	// UserMessageLevel is info, warning or error; empty means info.
	UserMessageLevel chain.Level `json:"user_message_level"`
}

// Ask makes an approval request.
type Ask struct {
	// Prompt is what a person is asked, a template.
	Prompt string `json:"prompt"`
	// Options are the answers offered; absent means Allow and Deny.
	Options []string `json:"options" jsonschema:"minItems=1,uniqueItems=true,minLength=1"`
	// Timeout is how long to wait for an answer, in seconds; nil means 300.
	Timeout *float64 `json:"timeout"`
	// Default is what holds when nobody answers, deny or allow; empty means deny.
	Default chain.Action `json:"default" jsonschema:"enum=deny,enum=allow"`
	// Key says what "Allow always" is for, in the place of the tool's input, where it is
	// proven who sent the event; a template.
	Key string `json:"key" jsonschema:"minLength=1"`
	// Unlabel are labels that the session loses where a person allows it.
	Unlabel []string `json:"unlabel" jsonschema:"minItems=1,uniqueItems=true"`
}

// Inject is text for the agent's context: in a file a text, or a mapping.
type Inject struct {
	// Text is a template.
	Text string `json:"text"`
	// Role is system, user or assistant; empty means system.
	Role chain.Role `json:"role"`
	// Ephemeral marks the text for the next model call only.
	Ephemeral bool `json:"ephemeral"`
	// AppendToLastToolResult puts the text at the end of the last tool result;
	// only with Ephemeral.
	AppendToLastToolResult bool `json:"append_to_last_tool_result"`

	short bool // written as a text in the file
}

// UnmarshalJSONFrom reads a text or a mapping.
func (i *Inject) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		i.short = true
		return jsonv2.UnmarshalDecode(dec, &i.Text)
	}
	type members Inject
	return jsonv2.UnmarshalDecode(dec, (*members)(i))
}

// Modify is a change of the data: what is set is computed from the data as it
// came, then set in the order of the paths, then what is to go is removed.
type Modify struct {
	Set    map[string]Source `json:"set"`
	Remove []string          `json:"remove"`
}

// Source is the text of a CEL expression. In a file it may also stand as a bare
// number or flag: "when: true".
type Source string

// UnmarshalJSON reads a string, a number or a flag.
func (s *Source) UnmarshalJSON(text []byte) error {
	v := jsontext.Value(text)
	switch v.Kind() {
	case '"':
		unquoted, err := jsontext.AppendUnquote(nil, v)
		*s = Source(unquoted)
		return err
	case '0', 't', 'f':
		*s = Source(text)
		return nil
	}
	return fmt.Errorf("must be a CEL expression, in quotes where YAML would read it as something else")
}
