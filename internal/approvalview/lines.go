package approvalview

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// bar begins each line of a text within other JSON, so that no text of an agent passes for
// what stands around it.
const bar = "│ "

// Lines is a value for people: a text as it is, with its line breaks, and other JSON
// indented, its numbers as they were written. Within JSON, a text of several lines stands
// below its name, with a bar before each line.
func Lines(value []byte) string {
	v := jsontext.Value(value)
	if v.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(text)
		}
	}
	l := layout{in: jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if l.value("", "") != nil {
		return string(value)
	}
	if _, err := l.in.ReadToken(); !errors.Is(err, io.EOF) { // there is more, which must not be hidden
		return string(value)
	}
	return strings.Join(l.lines, "\n")
}

// layout lays JSON out over lines.
type layout struct {
	in    *jsontext.Decoder
	lines []string
}

// value adds the next value, with a name before it if it is a member.
func (l *layout) value(margin, name string) error {
	kind := l.in.PeekKind()
	if kind == '{' || kind == '[' {
		return l.nested(margin, name)
	}
	raw, err := l.in.ReadValue()
	if err != nil {
		return err
	}
	text, ok := severalLines(raw)
	if !ok {
		l.add(margin + name + string(raw))
		return nil
	}
	if name != "" {
		l.add(margin + strings.TrimSuffix(name, " "))
		margin += "  "
	}
	for line := range strings.Lines(text) {
		l.add(margin + bar + strings.TrimSuffix(line, "\n"))
	}
	return nil
}

// severalLines is a value that is a text of several lines, as somebody judges it: empty lines do
// not push the rest away. ok is false for other values.
func severalLines(value jsontext.Value) (text string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	raw, err := jsontext.AppendUnquote(nil, value)
	return approval.Visible(string(raw)), err == nil && bytes.Contains(raw, []byte("\n"))
}

// nested adds an object or an array.
func (l *layout) nested(margin, name string) error {
	begin, err := l.in.ReadToken()
	if err != nil {
		return err
	}
	closes := map[jsontext.Kind]jsontext.Kind{'{': '}', '[': ']'}[begin.Kind()]
	open := margin + name + begin.Kind().String()
	if l.in.PeekKind() == closes {
		l.add(open + closes.String())
		_, err := l.in.ReadToken()
		return err
	}
	l.add(open)
	for l.in.PeekKind() != closes {
		if err := l.member(margin+"  ", begin.Kind() == '{'); err != nil {
			return err
		}
		if last := &l.lines[len(l.lines)-1]; l.in.PeekKind() != closes && !strings.HasPrefix(strings.TrimLeft(*last, " "), bar) {
			*last += ","
		}
	}
	l.add(margin + closes.String())
	_, err = l.in.ReadToken()
	return err
}

// member adds a member of an object, or an element of an array.
func (l *layout) member(margin string, named bool) error {
	if !named {
		return l.value(margin, "")
	}
	name, err := l.in.ReadValue()
	if err != nil {
		return err
	}
	return l.value(margin, string(name)+": ")
}

func (l *layout) add(line string) { l.lines = append(l.lines, line) }
