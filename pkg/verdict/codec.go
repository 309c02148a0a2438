package verdict

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ErrInvalid is wrapped by every error of [Parse]. An invalid verdict permits nothing.
var ErrInvalid = errors.New("invalid verdict")

// MarshalJSON returns the output of [Verdict.Append]. Note that encoding/json compacts and escapes
// the output of MarshalJSON: only Append keeps the data's bytes.
func (v Verdict) MarshalJSON() ([]byte, error) { return v.Append(nil), nil }

// UnmarshalJSON decodes a verdict with [Parse].
func (v *Verdict) UnmarshalJSON(b []byte) error {
	parsed, err := Parse(b)
	if err == nil {
		*v = parsed
	}
	return err
}

// Append appends the verdict to buf as JSON: always the action and the tokens, other fields only if
// they are not empty, data byte for byte.
func (v Verdict) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	w.String("action", string(v.Action))
	if v.Reason != "" || v.BlankReason {
		w.String("reason", v.Reason)
	}
	if v.Data != nil {
		w.Raw("data", v.Data)
	}
	writeList(&w, "messages", v.Messages, Message.write)
	writeList(&w, "context_injections", v.ContextInjections, chain.ContextInjection.Write)
	writeList(&w, "display", v.Display, Display.write)
	if len(v.SuppressOutput) > 0 {
		w.Texts("suppress_output", v.SuppressOutput)
	}
	writeList(&w, "warnings", v.Warnings, Warning.write)
	w.Int("injected_tokens", int64(v.InjectedTokens))
	if v.Approval != nil {
		w.Object("approval", v.Approval.write)
	}
	return w.End()
}

func writeList[T any](w *events.ObjectWriter, name string, items []T, write func(T, *events.ObjectWriter)) {
	if len(items) > 0 {
		w.Objects(name, len(items), func(i int, w *events.ObjectWriter) { write(items[i], w) })
	}
}

func (m Message) write(w *events.ObjectWriter) {
	w.String("role", string(m.Role))
	w.String("content", m.Content)
	w.Flag("ephemeral", m.Ephemeral)
	w.Flag("append_to_last_tool_result", m.AppendToLastToolResult)
	w.Object("metadata", func(w *events.ObjectWriter) {
		w.Text("source", m.Metadata.Source)
		w.Text("hook_name", m.Metadata.HookName)
		w.Text("hook_id", m.Metadata.HookID)
		w.Text("event", m.Metadata.Event)
		w.Text("timestamp", m.Metadata.Timestamp)
	})
}

func (d Display) write(w *events.ObjectWriter) {
	w.String("message", d.Message)
	w.String("level", string(d.Level))
	w.Text("source", d.Source)
	w.Text("hook_id", d.HookID)
	w.Text("user_message_source", d.UserMessageSource)
}

func (n Warning) write(w *events.ObjectWriter) {
	w.String("kind", n.Kind)
	w.Text("hook", n.Hook)
	w.Text("detail", n.Detail)
}

func (a Approval) write(w *events.ObjectWriter) {
	w.Text("id", a.ID)
	w.Text("hook", a.Hook)
	w.Text("prompt", a.Prompt)
	if len(a.Options) > 0 {
		w.Texts("options", a.Options)
	}
	w.Text("option", a.Option)
	w.Text("decided_by", a.DecidedBy)
	w.Flag("cached", a.Cached)
	w.Flag("timed_out", a.TimedOut)
	w.Text("expires", a.Expires)
	w.Text("data_sha256", a.DataSHA256)
}

// Parse parses the JSON text of a verdict. A verdict is invalid if it is not a JSON object, has
// duplicate names, has no known action, or has a known field of a wrong type or value; null means
// omitted. Unknown fields are ignored, since a newer router may send them. The verdict does not
// refer to body.
func Parse(body []byte) (Verdict, error) {
	obj, err := events.ParseEnvelope(body)
	if err != nil {
		return Verdict{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	var v Verdict
	for name, value := range obj.All() {
		if value.Kind() == 'n' {
			continue
		}
		if err := v.set(name, value); err != nil {
			return Verdict{}, fmt.Errorf("%w: %s must be %w", ErrInvalid, name, err)
		}
	}
	if v.Action == "" {
		return Verdict{}, fmt.Errorf("%w: it has no action", ErrInvalid)
	}
	return v, nil
}

// Errors about a field's value. They complete "name must be".
var (
	errText     = errors.New("a string")
	errTexts    = errors.New("a list of strings")
	errCount    = errors.New("a whole number, 0 or more")
	errObject   = errors.New("an object")
	errMessages = errors.New("a list of messages, each with a role that is known")
	errDisplay  = errors.New("a list of messages, each with a level that is known")
	errWarnings = errors.New("a list of warnings")
	errApproval = errors.New("an approval")
)

// set sets one field. The error completes "name must be".
func (v *Verdict) set(name string, value jsontext.Value) (err error) {
	switch name {
	case "action":
		v.Action, err = action(value)
	case "reason":
		err = decode(value, &v.Reason, errText)
		v.BlankReason = v.Reason == ""
	case "data":
		if value.Kind() != '{' {
			return errObject
		}
		v.Data = bytes.Clone(value)
	case "messages":
		v.Messages, err = list(value, errMessages, (*Message).complete)
	case "context_injections":
		v.ContextInjections, err = chain.ParseContextInjections(value)
	case "display":
		v.Display, err = list(value, errDisplay, (*Display).complete)
	case "suppress_output":
		v.SuppressOutput, err = list(value, errTexts, func(*string) bool { return true })
	case "warnings":
		v.Warnings, err = list(value, errWarnings, func(*Warning) bool { return true })
	case "injected_tokens":
		v.InjectedTokens, err = strconv.Atoi(string(value))
		if err != nil || v.InjectedTokens < 0 {
			return errCount
		}
	case "approval":
		v.Approval = new(Approval)
		err = decode(value, v.Approval, errApproval)
	}
	return err
}

func action(value jsontext.Value) (a Action, err error) {
	known := []Action{Continue, Deny, Pending}
	if decode(value, &a, errText) != nil || !slices.Contains(known, a) {
		return "", fmt.Errorf("one of %q", known)
	}
	return a, nil
}

// decode decodes a value of checked JSON text. must is the error for a value of another type.
func decode(value jsontext.Value, into any, must error) error {
	if jsonv2.Unmarshal(value, into) != nil {
		return must
	}
	return nil
}

// list decodes a list. complete fills in an item's defaults and reports whether it is valid.
func list[T any](value jsontext.Value, must error, complete func(*T) bool) ([]T, error) {
	var parsed []*T // nil for null
	if jsonv2.Unmarshal(value, &parsed) != nil {
		return nil, must
	}
	var items []T
	for _, item := range parsed {
		if item == nil || !complete(item) {
			return nil, must
		}
		items = append(items, *item)
	}
	return items, nil
}

func (m *Message) complete() bool {
	m.Role = cmp.Or(m.Role, chain.RoleSystem)
	return slices.Contains([]chain.Role{chain.RoleSystem, chain.RoleUser, chain.RoleAssistant}, m.Role)
}

func (d *Display) complete() bool {
	d.Level = cmp.Or(d.Level, chain.LevelInfo)
	return slices.Contains([]chain.Level{chain.LevelInfo, chain.LevelWarning, chain.LevelError}, d.Level)
}
