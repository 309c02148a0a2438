package workerfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Error is one error or warning about a worker file.
type Error struct {
	File         string
	Line, Column int    // starting at 1; the column counts characters
	Path         string // the field, like hooks[0].cel.rules[1].when; empty for the file as a whole
	Err          error  // what is wrong, with a hint if there is one

	source  string           // the line
	at      jsontext.Pointer // the value, the missing member, or the place in a text
	unknown bool             // its key is unknown
}

// Error returns a message like "worker.yaml:12:13: hooks[0].match: undeclared reference to 'dta'
// (did you mean 'data'?)".
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Path != "" {
		text += e.Path + ": "
	}
	return text + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Snippet returns the line with a mark below the column. It is empty if the line is. Each character
// that would move a terminal's cursor or change the direction of text is replaced with one visible
// character.
func (e *Error) Snippet() string {
	if strings.TrimSpace(e.source) == "" {
		return ""
	}
	margin := fmt.Sprintf("%5d | ", e.Line)
	return margin + strings.Map(visible, e.source) + "\n" + strings.Repeat(" ", len(margin)-2) + "| " +
		strings.Repeat(" ", max(e.Column-1, 0)) + "^\n"
}

// visible replaces an unprintable character with a printable one that is one column wide.
func visible(r rune) rune {
	switch {
	case unicode.IsPrint(r):
		return r
	case r == '\t':
		return ' '
	case r < ' ':
		return '\u2400' + r // its control picture
	}
	return unicode.ReplacementChar
}

// invalidError is the error of a file with errors, together with the warnings about it.
type invalidError struct {
	error
	warnings []*Error
}

// Unwrap returns the errors.
func (e *invalidError) Unwrap() error { return e.error }

// Warnings returns the warnings about a file from the error of reading it.
func Warnings(err error) []*Error {
	if e, ok := errors.AsType[*invalidError](err); ok {
		return e.warnings
	}
	return nil
}

// Warnings returns the likely mistakes in hooks and tests, in the order of the file.
func (f *File) Warnings() []*Error {
	var all []error
	for _, h := range f.Hooks {
		all = append(all, h.Warnings...)
	}
	for _, t := range f.Tests {
		all = append(all, t.Warnings...)
	}
	return Errors(errors.Join(all...))
}

// Errors returns the [*Error]s that err is made of, in the order of the file.
func Errors(err error) []*Error {
	switch err := err.(type) { //nolint:errorlint // it is unwrapped here
	case *Error:
		return []*Error{err}
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, e := range err.Unwrap() {
			all = append(all, Errors(e)...)
		}
		return all
	case interface{ Unwrap() error }:
		return Errors(err.Unwrap())
	}
	return nil
}

// errorIn returns an error at a line and column of the file.
func (d *document) errorIn(line, column int, at jsontext.Pointer, err error) *Error {
	e := &Error{File: d.name, Line: line, Column: column, Path: pathOf(at), Err: err, at: at}
	if line >= 1 && line <= len(d.lines) {
		e.source = d.lines[line-1]
	}
	return e
}

// errorAt returns an error, or each of several joined ones, as an error at a value. An [Error]
// stays as it is. A [kind.FieldError] is placed at the field that it names, and at its position in
// that field's text.
func (d *document) errorAt(at jsontext.Pointer, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, d.errorAt(at, e))
		}
		return errors.Join(all...)
	}
	if len(Errors(err)) > 0 {
		return err
	}
	field, ok := errors.AsType[*kind.FieldError](err)
	if !ok {
		p := d.nearest(at)
		return d.errorIn(p.line, p.column, at, err)
	}
	at += field.Pointer
	p := d.nearest(at)
	line, column := p.line, p.column
	switch {
	case field.Line > 0:
		line, column = d.within(p, field.Line, field.Column)
	case field.Key && p.keyLine > 0:
		line, column = p.keyLine, p.keyColumn
	}
	e := d.errorIn(line, column, at, field.Err)
	if _, secret := errors.AsType[kind.SecretError](field.Err); secret {
		e.source = ""
	}
	if field.Line > 0 { // a text may have several errors
		e.at = at.AppendToken(fmt.Sprintf("%d:%d", field.Line, field.Column))
	}
	return e
}

// missing returns an error at a mapping without a required member.
func (d *document) missing(mapping jsontext.Pointer, member string, format string, args ...any) error {
	p := d.nearest(mapping)
	e := d.errorIn(p.line, p.column, mapping, fmt.Errorf(format, args...))
	e.at = mapping.AppendToken(member)
	return e
}

// nearest returns the place of a value, or of the closest enclosing value that exists.
func (d *document) nearest(at jsontext.Pointer) place {
	for {
		if p, ok := d.places[at]; ok {
			return p
		}
		at = at.Parent()
	}
}

// pathOf formats a pointer as a path, such as hooks[0].match.
func pathOf(at jsontext.Pointer) string {
	var b strings.Builder
	for token := range at.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			fmt.Fprintf(&b, "[%s]", token)
		case strings.ContainsAny(token, ". []"), strings.ContainsFunc(token, func(r rune) bool { return !unicode.IsPrint(r) }):
			fmt.Fprintf(&b, "[%q]", token)
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}
