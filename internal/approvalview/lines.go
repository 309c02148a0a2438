package approvalview

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// bar precedes each line of a text within other JSON, so that text of an agent can't imitate the
// surrounding layout.
const bar = "│ "

// Lines returns a JSON value for people: a string unquoted, with its line breaks, and other JSON
// indented, with numbers unchanged. Within JSON, a string of several lines is printed below its
// name, with a bar before each line.
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
	if _, err := l.in.ReadToken(); !errors.Is(err, io.EOF) { // trailing data must not be hidden
		return string(value)
	}
	return strings.Join(l.lines, "\n")
}

// layout formats JSON as lines.
type layout struct {
	in    *jsontext.Decoder
	lines []string
}

// value adds the next value, preceded by its name if it is a member.
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

// severalLines returns a string of several lines as [approval.Visible] shows it, so that empty
// lines can't push the rest out of view. ok is false for other values.
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
