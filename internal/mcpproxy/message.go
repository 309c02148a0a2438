package mcpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits of a message. Messages beyond them are refused.
const (
	maxMessage = 64 << 20 // bytes
	maxBatch   = 256      // messages
	maxID      = 256      // bytes of an id
)

// kind is the kind of a JSON-RPC message.
type kind int

const (
	request kind = iota
	notification
	response
)

// message is a JSON-RPC message that all parsers interpret in the same way.
type message struct {
	raw     []byte // as received
	members events.Object
	kind    kind
	method  string
	id      jsontext.Value // of a request or a response; nil for a response without one
	key     string         // the id in a comparable form; empty if it is nil
}

// malformed is the error for a message that is refused. The id is nil if it is unknown.
type malformed struct {
	id    jsontext.Value
	code  int
	cause string
}

func (m *malformed) Error() string { return m.cause }

// split splits a line into its messages: one message, or the messages of a batch.
func split(raw []byte) (parts []jsontext.Value, isBatch bool, err error) {
	body := bytes.TrimSuffix(raw, []byte("\r"))
	if bytes.ContainsAny(body, "\r\n") {
		return nil, false, &malformed{code: codeParse, cause: "the message holds a line break, where some servers would begin another message"}
	}
	if trimmed := bytes.TrimLeft(body, " \t"); len(trimmed) == 0 || trimmed[0] != '[' {
		return []jsontext.Value{body}, false, nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if _, err := dec.ReadToken(); err != nil {
		return nil, true, unreadable(err)
	}
	for dec.PeekKind() != ']' {
		part, err := dec.ReadValue()
		if err != nil {
			return nil, true, unreadable(err)
		}
		if parts = append(parts, part.Clone()); len(parts) > maxBatch {
			return nil, true, &malformed{code: codeInvalid, cause: fmt.Sprintf("the batch has more than %d messages", maxBatch)}
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, true, unreadable(err)
	}
	if rest := bytes.TrimLeft(body[dec.InputOffset():], " \t"); len(rest) > 0 || len(parts) == 0 {
		return nil, true, &malformed{code: codeInvalid, cause: "a batch is one JSON array of messages, and not an empty one"}
	}
	return parts, true, nil
}

func unreadable(err error) error {
	return &malformed{code: codeParse, cause: "the message can't be read: " + err.Error()}
}

// reserved are the members that JSON-RPC defines.
var reserved = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// parse parses one message. It returns a *malformed error for a message that another parser could
// interpret differently.
func parse(raw []byte) (message, error) {
	members, err := events.ParseObject(raw)
	if err != nil {
		return message{}, unreadable(err)
	}
	m := message{raw: raw, members: members}
	version, _ := members.GetString("jsonrpc")
	id, hasID := members.Get("id")
	if key := keyOf(id); key != "" {
		m.id, m.key = id, key
	}
	method, hasMethod := members.Get("method")
	_, hasResult := members.Get("result")
	_, hasError := members.Get("error")
	refuse := func(format string, args ...any) (message, error) {
		return message{}, &malformed{id: m.id, code: codeInvalid, cause: fmt.Sprintf(format, args...)}
	}
	if name := lookalike(members, reserved); name != "" {
		return refuse("the member %q can be taken for another one", name)
	}
	switch {
	case version != "2.0":
		return refuse(`it is not a JSON-RPC message: "jsonrpc" must be "2.0"`)
	case hasMethod == (hasResult || hasError) || hasResult && hasError:
		return refuse("it must be either a request or a response")
	case hasID && m.key == "" && !(hasError && id.Kind() == 'n'):
		return refuse("its id must be a text of up to %d bytes, or a whole number of up to 15 digits", maxID)
	case hasResult && !hasID:
		return refuse("a result needs an id")
	case !hasMethod:
		m.kind = response
		return m, nil
	}
	m.method, _ = members.GetString("method")
	if len(m.method) > longestMethod || !methodForm().MatchString(m.method) {
		return refuse("its method is not a name: %s", clip(string(method)))
	}
	if params, ok := members.Get("params"); ok && params.Kind() != '{' && params.Kind() != '[' {
		return refuse("its params must be an object")
	}
	if !hasID {
		m.kind = notification
	}
	return m, nil
}

// longestMethod is the maximum length of a method's name, in bytes.
const longestMethod = 256

var (
	methodForm = lazy(`^[[:graph:]]+$`)
	numberForm = lazy(`^(0|-?[1-9][0-9]{0,14})$`)
)

// lazy returns a function that compiles an expression at its first call, since hook-agent links
// this package and starts once per hook call of an agent.
func lazy(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}

// keyOf returns an id in a comparable form: the number, or the string after a quote. It is empty
// for an invalid id, and for one that a peer could repeat in another representation.
func keyOf(id jsontext.Value) string {
	switch {
	case len(id) == 0 || len(id) > maxID:
		return ""
	case id.Kind() == '0' && numberForm().Match(id):
		return string(id)
	case id.Kind() == '"':
		text, err := jsontext.AppendUnquote(nil, id)
		if err != nil {
			return ""
		}
		return `"` + string(text)
	}
	return ""
}

// lookalike returns the first member that parsers that ignore case take for one of names; empty if
// there is none.
func lookalike(o events.Object, names []string) string {
	for name := range o.All() {
		if !slices.Contains(names, name) && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return name
		}
	}
	return ""
}

// params returns the parameters as an object. A member that differs from one of names only in case
// is an error.
func (m message) params(names ...string) (events.Object, error) {
	raw, ok := m.members.Get("params")
	if !ok {
		return events.Object{}, nil
	}
	o, err := events.ParseObject(raw)
	if err != nil {
		return o, errors.New("its params must be an object")
	}
	if name := lookalike(o, names); name != "" {
		return o, fmt.Errorf("its parameter %q can be taken for another one", name)
	}
	return o, nil
}

// extraMember returns a member that JSON-RPC does not define; empty if there is none.
func (m message) extraMember() string {
	for name := range m.members.All() {
		if !slices.Contains(reserved, name) {
			return name
		}
	}
	return ""
}

// judgeable returns a valid message without the members that JSON-RPC does not define: hooks do not
// see them.
func (m message) judgeable() message {
	if m.extraMember() == "" {
		return m
	}
	w := events.NewObjectWriter(make([]byte, 0, len(m.raw)))
	for name, value := range m.members.All() {
		if slices.Contains(reserved, name) {
			w.Raw(name, value)
		}
	}
	m.raw = w.End()
	m.members, _ = events.ParseObject(m.raw) // made of one that was parsed
	return m
}

// strayID returns the id of an invalid message; nil unless its top level has exactly one.
func strayID(raw []byte) (id jsontext.Value) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		isID := string(name) == `"id"`
		value, err := dec.ReadValue()
		if err != nil || isID && id != nil {
			return nil
		}
		if isID {
			id = value.Clone()
		}
	}
	return id
}

// isOne reports whether an invalid message is still one object in one line whose top level all
// parsers interpret as the same response.
func isOne(raw []byte) bool {
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	if bytes.ContainsAny(raw, "\r\n") {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
		return false
	}
	seen := map[string]bool{}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		name := token.String()
		for _, one := range reserved {
			if strings.EqualFold(name, one) && (name != one || seen[one]) {
				return false
			}
		}
		if seen[name] = true; strings.ContainsRune(name, utf8.RuneError) || dec.SkipValue() != nil {
			return false
		}
	}
	_, err := dec.ReadToken()
	return err == nil && len(bytes.TrimLeft(raw[dec.InputOffset():], " \t")) == 0
}

// clip cuts text of a peer for a message.
func clip(text string) string { return shorten.Bytes(text, 100, "…") }
