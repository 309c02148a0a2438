package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// ErrInvalidResult is what every error of [ParseResult] wraps.
var ErrInvalidResult = errors.New("invalid result")

// ParseResult reads a hook's reply. An empty reply and null mean continue.
// Invalid is what is no JSON object, has duplicate names, nests deeper than
// event data may, or has a known field of a wrong type or value (null only where
// the specification allows it). Unknown fields are ignored, nothing is coerced.
// The result keeps no reference to reply.
func ParseResult(reply []byte) (Result, error) {
	reply = bytes.Trim(reply, " \t\r\n")
	if len(reply) == 0 || string(reply) == "null" {
		return Result{}, nil
	}
	obj, err := events.ParseEnvelope(bytes.Clone(reply))
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResult, err)
	}
	r := Result{}
	f := fields{obj: obj}
	r.Action = choice(&f, "action", Continue, Deny, Modify, InjectContext, AskUser)
	r.Data = f.object("data")
	r.Reason = f.text("reason")
	r.ContextInjection = f.text("context_injection")
	r.ContextInjectionRole = choice(&f, "context_injection_role", RoleSystem, RoleUser, RoleAssistant)
	r.Ephemeral = f.flag("ephemeral")
	r.AppendToLastToolResult = f.flag("append_to_last_tool_result")
	r.ApprovalPrompt = f.text("approval_prompt")
	r.ApprovalOptions = f.texts("approval_options")
	r.ApprovalTimeout = f.number("approval_timeout")
	r.ApprovalDefault = choice(&f, "approval_default", Deny, Allow)
	r.SuppressOutput = f.flag("suppress_output")
	r.UserMessage = f.text("user_message")
	r.UserMessageLevel = choice(&f, "user_message_level", LevelInfo, LevelWarning, LevelError)
	if f.err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResult, f.err)
	}
	return r, nil
}

// fields reads the members of a reply and keeps the first error.
type fields struct {
	obj events.Object
	err error
}

func (f *fields) wrong(name, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s must be %s", name, want)
	}
}

// text reads a string or null.
func (f *fields) text(name string) string {
	v, ok := f.obj.Get(name)
	if !ok || v.Kind() == 'n' {
		return ""
	}
	text, ok := f.obj.GetString(name)
	if !ok {
		f.wrong(name, "a string or null")
	}
	return text
}

func (f *fields) flag(name string) bool {
	v, ok := f.obj.Get(name)
	if ok && v.Kind() != 't' && v.Kind() != 'f' {
		f.wrong(name, "true or false")
	}
	return ok && v.Kind() == 't'
}

func (f *fields) number(name string) *float64 {
	v, ok := f.obj.Get(name)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if v.Kind() != '0' || err != nil || math.IsInf(n, 0) {
		f.wrong(name, "a number")
		return nil
	}
	return &n
}

func (f *fields) object(name string) json.RawMessage {
	v, ok := f.obj.Get(name)
	if !ok || v.Kind() == 'n' {
		return nil
	}
	if v.Kind() != '{' {
		f.wrong(name, "an object or null")
	}
	return json.RawMessage(v)
}

func (f *fields) texts(name string) []string {
	v, ok := f.obj.Get(name)
	if !ok || v.Kind() == 'n' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	list := []string{}
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		f.wrong(name, "a list of strings or null")
		return nil
	}
	for dec.PeekKind() != ']' {
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != '"' {
			f.wrong(name, "a list of strings or null")
			return nil
		}
		list = append(list, tok.String())
	}
	return list
}

// choice reads a string that is one of the given values.
func choice[T ~string](f *fields, name string, values ...T) T {
	v, ok := f.obj.Get(name)
	if !ok {
		return ""
	}
	text, isText := f.obj.GetString(name)
	if v.Kind() != '"' || !isText || !slices.Contains(values, T(text)) {
		f.wrong(name, fmt.Sprintf("one of %q", values))
	}
	return T(text)
}
