package hookfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Error is one thing that is wrong with a worker file.
type Error struct {
	File         string
	Line, Column int    // from 1, the column in characters
	Path         string // the field, like hooks[0].cel.rules[1].when; empty for the file as a whole
	Err          error  // what is wrong, with a hint where there is one

	source string // the line
}

// Error is like
// "worker.yaml:12:13: hooks[0].match: undeclared reference to 'dta' (did you mean 'data'?)".
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Path != "" {
		text += e.Path + ": "
	}
	return text + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Snippet is the line with a mark below the place, for people; two lines, or
// empty where the line is.
func (e *Error) Snippet() string {
	if strings.TrimSpace(e.source) == "" {
		return ""
	}
	margin := fmt.Sprintf("%5d | ", e.Line)
	return margin + e.source + "\n" + strings.Repeat(" ", len(margin)-2) + "| " +
		strings.Repeat(" ", max(e.Column-1, 0)) + "^\n"
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

// errorIn is an error at a line and column of the file.
func (d *document) errorIn(line, column int, at jsontext.Pointer, err error) *Error {
	e := &Error{File: d.name, Line: line, Column: column, Path: pathOf(at), Err: err}
	if line >= 1 && line <= len(d.lines) {
		e.source = strings.ReplaceAll(d.lines[line-1], "\t", " ")
	}
	return e
}

// errorAt is an error at a value. What is an Error already stays what it is; a
// FieldError leads to the field it names, and into that field's text.
func (d *document) errorAt(at jsontext.Pointer, err error) error {
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
	if field.Line > 0 {
		line, column = d.within(p, field.Line, field.Column)
	}
	return d.errorIn(line, column, at, field.Err)
}

// nearest is the place of a value, or of what should have held it.
func (d *document) nearest(at jsontext.Pointer) place {
	for {
		if p, ok := d.places[at]; ok {
			return p
		}
		at = at.Parent()
	}
}

// within finds a position of a text in the file. That is possible where the line
// stands in the file as it is, not folded or escaped; else it is the text's own
// place.
func (d *document) within(p place, line, column int) (fileLine, fileColumn int) {
	textLines := strings.Split(p.text, "\n")
	number := p.line + line - 1
	if p.block {
		number++
	}
	if line > len(textLines) || number > len(d.lines) {
		return p.line, p.column
	}
	source, skip := d.lines[number-1], 0
	if line == 1 && !p.block {
		skip = byteOffset(source, p.column-1)
	}
	offset := strings.Index(source[skip:], textLines[line-1])
	if offset < 0 || textLines[line-1] == "" {
		return p.line, p.column
	}
	return number, utf8.RuneCountInString(source[:skip+offset]) + column
}

// byteOffset is where the nth character of s begins.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// mentioned is the member of a registration that the error speaks of, or the
// registration.
func (d *document) mentioned(at jsontext.Pointer, err error) jsontext.Pointer {
	longest := ""
	for _, name := range fieldNames[chain.Registration]() {
		_, given := d.places[at.AppendToken(name)]
		if given && len(name) > len(longest) && strings.Contains(err.Error(), strings.TrimSuffix(name, "s")) {
			longest = name
		}
	}
	if longest == "" {
		return at
	}
	return at.AppendToken(longest)
}

// mismatch says what a field must be, in the words of YAML.
func mismatch(sem *jsonv2.SemanticError) error {
	switch {
	case sem.GoType == nil && sem.Err != nil:
		return sem.Err
	case sem.GoType == nil:
		return errors.New("is of another type")
	case sem.JSONKind == 0:
		return fmt.Errorf("must be %s", typeWord(sem.GoType))
	}
	return fmt.Errorf("must be %s, not %s", typeWord(sem.GoType), kindWord(sem.JSONKind))
}

// pathOf writes a pointer as people write paths.
func pathOf(at jsontext.Pointer) string {
	var b strings.Builder
	for token := range at.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			fmt.Fprintf(&b, "[%s]", token)
		case strings.ContainsAny(token, ". []"):
			fmt.Fprintf(&b, "[%q]", token)
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}
