package celhook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// assignment is one entry of set.
type assignment struct {
	path  path
	value *match.Expr
}

func compileModify(at jsontext.Pointer, m Modify) (answer, error) {
	if len(m.Set)+len(m.Remove) == 0 {
		return nil, kind.At(at, "modify changes nothing: give it set or remove")
	}
	var set []assignment
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(m.Set)) {
		field := (at + "/set").AppendToken(name)
		p, err := parsePath(name)
		if err != nil {
			wrong = append(wrong, &kind.FieldError{Pointer: field, Key: true, Err: err})
		}
		value, err := match.InRule.CompileExpr(string(m.Set[name]))
		if err != nil {
			wrong = append(wrong, positioned(field, err))
		}
		set = append(set, assignment{p, value})
	}
	var remove []path
	for i, name := range m.Remove {
		p, err := parsePath(name)
		if err != nil {
			wrong = append(wrong, &kind.FieldError{Pointer: (at + "/remove").AppendToken(fmt.Sprint(i)), Err: err})
		}
		remove = append(remove, p)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return func(in *match.Input, data []byte) (chain.Result, error) {
		return modify(in, data, set, remove)
	}, nil
}

func modify(in *match.Input, data []byte, set []assignment, remove []path) (chain.Result, error) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	changed := jsontext.Value(data)
	for _, s := range set {
		value, err := s.value.EvalJSON(in)
		if err != nil {
			return chain.Result{}, fmt.Errorf("modify.set %s: %w", s.path, explain(err))
		}
		if changed, err = edit(changed, s.path, value); err != nil {
			return chain.Result{}, fmt.Errorf("modify.set %s: %w", s.path, err)
		}
	}
	for _, p := range remove {
		var err error
		if changed, err = edit(changed, p, nil); err != nil {
			return chain.Result{}, fmt.Errorf("modify.remove %s: %w", p, err)
		}
	}
	return chain.Result{Action: chain.Modify, Data: []byte(changed)}, nil
}

// path is the list of member names that lead to a value.
type path []string

// String returns the path as a JSON Pointer.
func (p path) String() string {
	var pointer jsontext.Pointer
	for _, name := range p {
		pointer = pointer.AppendToken(name)
	}
	return string(pointer)
}

// parsePath parses names joined by dots, or a JSON Pointer.
func parsePath(text string) (path, error) {
	var p path
	if strings.HasPrefix(text, "/") {
		if !jsontext.Pointer(text).IsValid() {
			return nil, fmt.Errorf("path %q is not a JSON Pointer: ~ is written ~0, and / in a name ~1", text)
		}
		p = slices.Collect(jsontext.Pointer(text).Tokens())
	} else {
		p = strings.Split(text, ".")
	}
	if slices.Contains(p, "") {
		return nil, fmt.Errorf(`path %q has an empty name: write "tool_input.command", or "/tool_input/a.b" where a name has dots`, text)
	}
	if len(p) > maxPath {
		return nil, fmt.Errorf("path %q has more than %d names", text, maxPath)
	}
	return p, nil
}

// maxPath is the length of a path to the deepest value that event data may have.
const maxPath = 63

var errNoObject = errors.New("it goes through a value that is not an object")

// edit returns raw with the value at p replaced or added, or removed if value is nil. Everything
// else keeps its bytes.
func edit(raw jsontext.Value, p path, value jsontext.Value) (jsontext.Value, error) {
	if len(p) == 0 {
		return value, nil
	}
	dec := jsontext.NewDecoder(strings.NewReader(string(raw)))
	if tok, err := dec.ReadToken(); err != nil {
		return nil, err
	} else if tok.Kind() != '{' && value == nil {
		return raw, nil // nothing to remove
	} else if tok.Kind() != '{' {
		return nil, errNoObject
	}
	w := objectWriter{buf: append(make([]byte, 0, len(raw)+len(value)+32), '{')}
	found := false
	for dec.PeekKind() != '}' {
		name, old, isNext, err := readMember(dec, p[0])
		if err != nil {
			return nil, err
		}
		if isNext {
			found = true
			if old, err = edit(old, p[1:], value); err != nil {
				return nil, err
			}
		}
		w.member(name, old)
	}
	if !found && value != nil {
		name, _ := jsontext.AppendQuote(nil, p[0])
		inner, err := edit(jsontext.Value("{}"), p[1:], value)
		if err != nil {
			return nil, err
		}
		w.member(name, inner)
	}
	return append(w.buf, '}'), nil
}

// readMember reads a member and reports whether it has the wanted name. The result is valid until
// the decoder's next read.
func readMember(dec *jsontext.Decoder, want string) (name, value jsontext.Value, is bool, err error) {
	quoted, err := dec.ReadValue()
	if err != nil {
		return nil, nil, false, err
	}
	name = quoted.Clone() // reading the value overwrites it
	plain, err := jsontext.AppendUnquote(nil, name)
	if err != nil {
		return nil, nil, false, err
	}
	value, err = dec.ReadValue()
	return name, value, string(plain) == want, err
}

// objectWriter appends members to an object. It omits members without a value.
type objectWriter struct{ buf []byte }

func (w *objectWriter) member(name, value jsontext.Value) {
	if value == nil {
		return
	}
	if len(w.buf) > 1 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, name...), ':'), value...)
}
