package events

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the maximum nesting depth of event data. The data object itself is level 1.
const MaxDepth = 64

// Object is a checked JSON object with its original bytes. The zero Object is the empty object.
type Object struct {
	raw     []byte
	members []member
}

// member is one top-level member: its name, and the place of "name":value in raw.
type member struct {
	name       string
	start, end int // of the whole member
	value      int // where the value begins
}

// scratch holds the state of a parse. It is pooled because a decoder has a table for duplicate
// names.
type scratch struct {
	jsontext.Decoder
	in      bytes.Buffer
	members []member
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// ParseObject parses raw, which must be one JSON object in UTF-8 without duplicate names at any
// level, nested at most [MaxDepth] deep. The Object refers to raw, which must not change
// afterwards. The error is one sentence for the sender.
func ParseObject(raw []byte) (Object, error) { return parseObject(raw, MaxDepth) }

// ParseEnvelope is [ParseObject] for an object that has event data as a member (a CloudEvent, a
// hook's reply). It allows one more level.
func ParseEnvelope(raw []byte) (Object, error) { return parseObject(raw, MaxDepth+1) }

func parseObject(raw []byte, maxDepth int) (Object, error) {
	dec := scratches.Get().(*scratch)
	defer dec.release()
	dec.in = *bytes.NewBuffer(raw)
	dec.Reset(&dec.in)
	if k := dec.PeekKind(); k != '{' {
		if _, err := dec.ReadToken(); err != nil {
			return Object{}, jsonError(err)
		}
		return Object{}, fmt.Errorf("data must be a JSON object, not %s", kindName(k))
	}
	if _, err := dec.ReadToken(); err != nil {
		return Object{}, jsonError(err)
	}
	for dec.PeekKind() != '}' {
		m, err := readMember(&dec.Decoder, raw, maxDepth)
		if err != nil {
			return Object{}, err
		}
		dec.members = append(dec.members, m)
	}
	if _, err := dec.ReadToken(); err != nil {
		return Object{}, jsonError(err)
	}
	if rest := bytes.TrimLeft(raw[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return Object{}, errors.New("data must be one JSON object: something follows it")
	}
	return Object{raw, slices.Clone(dec.members)}, nil
}

// release returns a scratch to the pool, without what it has read.
func (p *scratch) release() {
	p.in = bytes.Buffer{}
	clear(p.members)
	p.members = p.members[:0]
	if cap(p.members) <= 1024 {
		scratches.Put(p)
	}
}

// readMember reads one top-level member and limits its depth. Only white space and punctuation can
// precede a member, or a value after its name.
func readMember(dec *jsontext.Decoder, raw []byte, maxDepth int) (member, error) {
	before := int(dec.InputOffset())
	tok, err := dec.ReadToken()
	if err != nil {
		return member{}, jsonError(err)
	}
	m := member{name: tok.String()}
	nameEnd := int(dec.InputOffset())
	m.start = before + bytes.IndexByte(raw[before:], '"')
	if err := skipValue(dec, maxDepth); err != nil {
		return member{}, err
	}
	m.end = int(dec.InputOffset())
	m.value = m.end - len(bytes.TrimLeft(raw[nameEnd:m.end], ": \t\r\n"))
	return m, nil
}

// skipValue reads one value, nested at most maxDepth deep.
func skipValue(dec *jsontext.Decoder, maxDepth int) error {
	level := dec.StackDepth()
	for {
		if _, err := dec.ReadToken(); err != nil {
			return jsonError(err)
		}
		if dec.StackDepth() > maxDepth {
			return fmt.Errorf("data nests deeper than %d levels", MaxDepth)
		}
		if dec.StackDepth() == level {
			return nil
		}
	}
}

// jsonError returns a decoder's error as one sentence for the sender.
func jsonError(err error) error {
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		return errors.New("data is not JSON: it ends too early")
	}
	if errors.Is(syn.Err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("data has the name %q twice, at byte %d", clip(string(syn.JSONPointer)), syn.ByteOffset)
	}
	cause := strings.TrimPrefix(fmt.Sprint(syn.Err), "jsontext: ")
	return fmt.Errorf("data is not JSON: %s at byte %d", clip(cause), syn.ByteOffset)
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	default:
		return "null, true or false"
	}
}

// Bytes returns the object's original text; "{}" for the zero Object.
func (o Object) Bytes() []byte {
	if o.raw == nil {
		return []byte("{}")
	}
	return o.raw
}

// Len returns the number of members.
func (o Object) Len() int { return len(o.members) }

// All iterates over the members in order, with their raw values.
func (o Object) All() iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for _, m := range o.members {
			if !yield(m.name, jsontext.Value(o.raw[m.value:m.end])) {
				return
			}
		}
	}
}

// Get returns the raw value of a member, and whether the member exists.
func (o Object) Get(name string) (jsontext.Value, bool) {
	for _, m := range o.members {
		if m.name == name {
			return jsontext.Value(o.raw[m.value:m.end]), true
		}
	}
	return nil, false
}

// GetString returns the text of a member, and whether the member exists and is a string.
func (o Object) GetString(name string) (string, bool) {
	v, ok := o.Get(name)
	if !ok || v.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), err == nil
}

// With returns the object's text with one member set to value, which must be JSON. An existing
// member is replaced in place; a new one is appended. All other bytes are unchanged.
func (o Object) With(name string, value []byte) []byte {
	raw := o.Bytes()
	for _, m := range o.members {
		if m.name == name {
			return slices.Concat(raw[:m.value], value, raw[m.end:])
		}
	}
	quoted, _ := jsontext.AppendQuote(nil, name) // invalid UTF-8 is replaced
	head := raw[:1+bytes.IndexByte(raw, '{')]
	if o.Len() > 0 {
		head = raw[:o.members[o.Len()-1].end]
		quoted = append([]byte{','}, quoted...)
	}
	return slices.Concat(head, quoted, []byte{':'}, value, raw[len(head):])
}

// Map returns the object's text with each value replaced by the result of change, which must be
// JSON. All other bytes are unchanged.
func (o Object) Map(change func(name string, value jsontext.Value) []byte) []byte {
	raw := o.Bytes()
	out, done := make([]byte, 0, len(raw)), 0
	for _, m := range o.members {
		out = append(out, raw[done:m.value]...)
		out = append(out, change(m.name, raw[m.value:m.end])...)
		done = m.end
	}
	return append(out, raw[done:]...)
}

// Over returns the members of o merged over those of below, with timestamp set to stamp. The merge
// is shallow, and an explicit null wins. Members keep their bytes. This implements the protocol's
// rules for data: event data overrides default fields, and the router sets the timestamp.
func (o Object) Over(below Object, stamp string) []byte {
	out := make([]byte, 0, len(o.raw)+len(below.raw)+len(stamp)+20)
	out = append(out, '{')
	for _, m := range below.members {
		if _, ours := o.Get(m.name); !ours && m.name != "timestamp" {
			out = append(append(out, below.raw[m.start:m.end]...), ',')
		}
	}
	for _, m := range o.members {
		if m.name != "timestamp" {
			out = append(append(out, o.raw[m.start:m.end]...), ',')
		}
	}
	out = append(out, `"timestamp":"`...)
	out = append(out, stamp...)
	return append(out, '"', '}')
}
