package chain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// ErrInvalidResult is wrapped by every error of [ParseResult].
var ErrInvalidResult = errors.New("invalid result")

// ParseResult parses a hook's reply. An empty reply and null mean continue. A reply is invalid if
// it is not a JSON object, has duplicate names, nests deeper than event data may, or has a known
// field of a wrong type or value; null is valid only where the specification allows it. Unknown
// fields are ignored, and nothing is coerced. Fields that the specification does not have are
// ignored if they are invalid, so that the hook's decision stands; but without its labels only a
// denial stands. Half of a surrogate pair becomes U+FFFD. The result does not refer to reply.
func ParseResult(reply []byte) (Result, error) {
	if len(reply) == 0 {
		return Result{}, nil
	}
	reply = bytes.Trim(reply, " \t\r\n")
	switch string(reply) {
	case "null":
		return Result{}, nil
	case usualReply:
		return Result{Action: Continue}, nil
	}
	obj, err := events.ParseEnvelope(WellFormed(reply))
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResult, err)
	}
	var r Result
	var wrong error // about the labels
	for name, value := range obj.All() {
		err := r.set(name, value)
		if err == nil || slices.Contains(ignorable, name) {
			continue
		}
		err = fmt.Errorf("%w: %s must be %w", ErrInvalidResult, name, err)
		if name != "labels" {
			return Result{}, err
		}
		wrong = err
	}
	if wrong = cmp.Or(wrong, r.checkLabels()); wrong != nil && r.Action != Deny {
		return Result{}, wrong
	}
	return r, nil
}

// ignorable lists the fields that are ignored if they are invalid. The specification does not have
// them, and nothing is allowed for their absence.
var ignorable = []string{"context_injections", "approval_key", "unlabel", "user_message_source"}

// usualReply is the most common reply. It is recognized without a parser.
const usualReply = `{"action":"continue"}`

// set sets one field. The error completes "name must be".
func (r *Result) set(name string, v jsontext.Value) (err error) {
	switch name {
	case "action":
		r.Action, err = choice(v, Continue, Deny, Modify, InjectContext, AskUser)
	case "data":
		r.Data, err = object(v)
	case "reason":
		r.Reason, err = r.nullable(v, BlankReason)
	case "context_injection":
		r.ContextInjection, err = r.nullable(v, BlankContextInjection)
	case "context_injection_role":
		r.ContextInjectionRole, err = choice(v, RoleSystem, RoleUser, RoleAssistant)
	case "ephemeral":
		r.Ephemeral, err = boolean(v)
	case "append_to_last_tool_result":
		r.AppendToLastToolResult, err = boolean(v)
	case "context_injections":
		r.ContextInjections, err = ParseContextInjections(v)
	case "approval_prompt":
		r.ApprovalPrompt, err = r.nullable(v, BlankApprovalPrompt)
	case "approval_options":
		r.ApprovalOptions, err = texts(v)
	case "approval_timeout":
		r.ApprovalTimeout, err = number(v)
	case "approval_default":
		r.ApprovalDefault, err = choice(v, Deny, Allow)
	case "approval_key":
		r.ApprovalKey, err = text(v)
	case "suppress_output":
		r.SuppressOutput, err = boolean(v)
	case "user_message":
		r.UserMessage, err = r.nullable(v, BlankUserMessage)
	case "labels":
		r.Labels, err = texts(v)
	case "unlabel":
		r.Unlabel, err = texts(v)
	case "user_message_level":
		r.UserMessageLevel, err = choice(v, LevelInfo, LevelWarning, LevelError)
	case "user_message_source":
		r.UserMessageSource, err = text(v)
	}
	return err
}

// Errors about a field's value. They complete "name must be".
var (
	errText   = errors.New("a string or null")
	errTexts  = errors.New("a list of strings or null")
	errFlag   = errors.New("true or false")
	errNumber = errors.New("a number")
	errObject = errors.New("an object or null")
)

// nullable reads a text, and records one that is empty but not null.
func (r *Result) nullable(v jsontext.Value, one Blank) (string, error) {
	s, err := text(v)
	if err == nil && s == "" && v.Kind() == '"' {
		r.Blank |= one
	}
	return s, err
}

func text(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case 'n':
		return "", nil
	case '"':
		b, err := jsontext.AppendUnquote(nil, v)
		return string(b), err
	}
	return "", errText
}

func boolean(v jsontext.Value) (bool, error) {
	switch v.Kind() {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return false, errFlag
}

func number(v jsontext.Value) (*float64, error) {
	n, err := strconv.ParseFloat(string(v), 64)
	if v.Kind() != '0' || err != nil || math.IsInf(n, 0) {
		return nil, errNumber
	}
	return &n, nil
}

func object(v jsontext.Value) (json.RawMessage, error) {
	switch v.Kind() {
	case 'n':
		return nil, nil
	case '{':
		return bytes.Clone(v), nil
	}
	return nil, errObject
}

func texts(v jsontext.Value) ([]string, error) {
	switch v.Kind() {
	case 'n':
		return nil, nil
	case '[':
	default:
		return nil, errTexts
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	list := []string{}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errTexts
	}
	for dec.PeekKind() != ']' {
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != '"' {
			return nil, errTexts
		}
		list = append(list, tok.String())
	}
	return list, nil
}

// choice reads a string that must be one of values.
func choice[T ~string](v jsontext.Value, values ...T) (T, error) {
	got := string(v)
	if v.Kind() == '"' {
		s, err := text(v)
		if err == nil && slices.Contains(values, T(s)) {
			return T(s), nil
		}
		got = s
	}
	return "", fmt.Errorf("one of %q, not %.40q", values, got)
}
