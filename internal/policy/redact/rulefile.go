package redact

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// Limits of a rules file.
const (
	maxFile     = 1 << 20 // bytes
	maxPatterns = 100
	maxPattern  = 1 << 10 // bytes of one expression or allowed value
	maxList     = 1000    // entries of keys, of without and of allow
	maxName     = 40      // bytes of a pattern's name
	minHint     = 3       // bytes
)

// ParseRules reads a rules file, YAML or JSON; name is what errors call it. It
// adds to the defaults and takes from them; all of it is optional:
//
//	without: [email]              # kinds, and default keys, that are not masked
//	keys: [pin, x-internal-auth]  # members whose values are masked, whatever they are
//	patterns:
//	  - name: employee            # is shown as [REDACTED:employee]
//	    pattern: 'EMP-[0-9]{6}'   # RE2; with a group, what is in the first one is masked
//	    hints: [EMP-]             # every match has one of them; makes the search cheap
//	allow:                        # what is never masked
//	  - 4111-1111-1111-1111       # exactly this
//	  - pattern: '.*@example\.com' # or all of it matches
//
// A pattern without hints is looked for in every string, unless it begins with a
// literal of at least three bytes.
//
// The error is like "redact.yaml:3:15: …". A file that means something else than it
// seems to is refused: unknown and repeated keys and names, expressions that
// match the empty text, an empty file.
func ParseRules(name string, text []byte) (*Rules, error) {
	s, err := parseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return &Rules{build(s)}, nil
}

func parseSettings(text []byte) (settings, error) {
	var s settings
	top, err := strictyaml.Document(text, maxFile, "write {} for the defaults")
	if err != nil {
		return s, err
	}
	read := map[string]func(strictyaml.Pair) error{
		"without":  func(m strictyaml.Pair) (err error) { s.without, err = names(m, checkDefault); return err },
		"keys":     func(m strictyaml.Pair) (err error) { s.keys, err = names(m, checkKey); return err },
		"patterns": func(m strictyaml.Pair) (err error) { s.patterns, err = customs(m); return err },
		"allow":    func(m strictyaml.Pair) (err error) { s.allow, err = allowed(m); return err },
	}
	for _, m := range top {
		known := read[m.Key]
		if known == nil {
			return s, strictyaml.ErrorAt(m.Node, "unknown key %q: known are without, keys, patterns and allow", strictyaml.Clip(m.Key))
		}
		if err := known(m); err != nil {
			return s, err
		}
	}
	for i, c := range s.patterns {
		if slices.Contains(kindNames, c.name) && !slices.Contains(s.without, c.name) {
			return s, strictyaml.ErrorAt(c.at, "patterns[%d].name %q is a default: take another name, or write \"without: [%s]\" to replace it", i, c.name, c.name)
		}
	}
	return s, nil
}

// entries are the values of a list.
func entries(m strictyaml.Pair, most int) ([]strictyaml.Pair, error) {
	list, ok := m.Value.(*ast.SequenceNode)
	if !ok {
		return nil, strictyaml.ErrorAt(m.Value, "%s: must be a list (lines that begin with -)", m.Key)
	}
	if len(list.Values) > most {
		return nil, strictyaml.ErrorAt(list, "%s: has %d entries: at most %d are allowed", m.Key, len(list.Values), most)
	}
	all := make([]strictyaml.Pair, 0, len(list.Values))
	for i, node := range list.Values {
		all = append(all, strictyaml.Pair{Key: fmt.Sprintf("%s[%d]", m.Key, i), Node: node, Value: node})
	}
	return all, nil
}

// names reads a list of names that are different for a keySet.
func names(m strictyaml.Pair, check func(string) error) ([]string, error) {
	list, err := entries(m, maxList)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, entry := range list {
		name, err := entry.Text()
		if err != nil {
			return nil, err
		}
		if err := check(name); err != nil {
			return nil, strictyaml.ErrorAt(entry.Value, "%s %w", entry.Key, err)
		}
		if slices.ContainsFunc(all, func(other string) bool { return sameKey(other, name) }) {
			return nil, strictyaml.ErrorAt(entry.Value, "%s: %q is listed twice: remove one", entry.Key, name)
		}
		all = append(all, name)
	}
	return all, nil
}

func sameKey(a, b string) bool {
	return string(foldKey(nil, []byte(a))) == string(foldKey(nil, []byte(b)))
}

func customs(m strictyaml.Pair) ([]custom, error) {
	list, err := entries(m, maxPatterns)
	if err != nil {
		return nil, err
	}
	all := make([]custom, 0, len(list))
	for _, entry := range list {
		c, err := oneCustom(entry)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other custom) bool { return other.name == c.name }) {
			return nil, strictyaml.ErrorAt(c.at, "%s.name %q is listed twice: use another name", entry.Key, c.name)
		}
		all = append(all, c)
	}
	return all, nil
}

func oneCustom(entry strictyaml.Pair) (custom, error) {
	members, err := strictyaml.Mapping(entry.Value)
	if err != nil {
		return custom{}, err
	}
	var c custom
	for _, m := range members {
		path := entry.Key + "." + m.Key
		switch m.Key {
		case "name":
			c.name, err = checked(m, path, checkName)
			c.at = m.Value
		case "pattern":
			c.form, err = expression(m, path, "%s")
		case "hints":
			c.hints, err = hints(strictyaml.Pair{Key: path, Node: m.Node, Value: m.Value})
		default:
			err = strictyaml.ErrorAt(m.Node, "%s: unknown key %q: known are name, pattern and hints", entry.Key, strictyaml.Clip(m.Key))
		}
		if err != nil {
			return custom{}, err
		}
	}
	switch {
	case c.name == "":
		return custom{}, strictyaml.ErrorAt(entry.Node, "%s has no name: give it one to be shown as [REDACTED:name]", entry.Key)
	case c.form == nil:
		return custom{}, strictyaml.ErrorAt(entry.Node, "%s has no pattern: give it an expression", entry.Key)
	}
	if c.hints == nil {
		if literal, _ := c.form.LiteralPrefix(); len(longest(literal)) >= minHint {
			c.hints = []string{longest(literal)}
		}
	}
	return c, nil
}

// checked is the member's text, which must pass check.
func checked(m strictyaml.Pair, path string, check func(string) error) (string, error) {
	text, err := m.Text()
	if err != nil {
		return "", err
	}
	if err := check(text); err != nil {
		return "", strictyaml.ErrorAt(m.Value, "%s %w", path, err)
	}
	return text, nil
}

// expression compiles a member's text, put into a frame.
func expression(m strictyaml.Pair, path, frame string) (*regexp.Regexp, error) {
	text, err := checked(m, path, checkPattern)
	if err != nil {
		return nil, err
	}
	form, err := regexp.Compile(fmt.Sprintf(frame, text))
	if err != nil {
		return nil, strictyaml.ErrorAt(m.Value, "%s: too large: %q", path, strictyaml.Clip(text))
	}
	return form, nil
}

func checkPattern(text string) error {
	switch {
	case text == "":
		return errors.New("is empty: give it an expression")
	case len(text) > maxPattern:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(text), maxPattern)
	}
	form, err := regexp.Compile(text)
	if err != nil {
		return fault(err)
	}
	if form.MatchString("") {
		return fmt.Errorf("%q matches the empty text: let it match at least one character", strictyaml.Clip(text))
	}
	return nil
}

// fault says what is wrong with an expression, and what to do.
func fault(err error) error {
	wrong, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return fmt.Errorf("is not a valid expression: %w", err)
	}
	hint := "see https://github.com/google/re2/wiki/Syntax"
	switch wrong.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		hint = "RE2 has no lookahead and lookbehind: mask the first group instead"
	case syntax.ErrInvalidEscape:
		hint = "RE2 has no back references; write \\\\ for a backslash"
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket:
		hint = "write a backslash before a bracket that stands for itself"
	}
	return fmt.Errorf("is not a valid expression: %s: %q (%s)", wrong.Code, strictyaml.Clip(wrong.Expr), hint)
}

// hints reads literals, and keeps of each the stretch that a search can begin with.
func hints(m strictyaml.Pair) ([]string, error) {
	list, err := entries(m, maxList)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, entry := range list {
		hint, err := checked(entry, entry.Key, checkHint)
		if err != nil {
			return nil, err
		}
		all = append(all, longest(hint))
	}
	return all, nil
}

// longest is the longest stretch of letters, digits and the other characters
// that have codes.
func longest(hint string) string {
	best := ""
	for _, part := range strings.FieldsFunc(hint, func(r rune) bool { return r > '~' || codes[r]&codeMask == 0 }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// allowed reads what is never masked.
func allowed(m strictyaml.Pair) (allowList, error) {
	list := allowList{values: map[string]bool{}}
	all, err := entries(m, maxList)
	if err != nil {
		return list, err
	}
	for _, entry := range all {
		switch entry.Value.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			form, err := allowedForm(entry)
			if err != nil {
				return list, err
			}
			list.forms = append(list.forms, form)
		default:
			value, err := checked(entry, entry.Key, checkValue)
			if err != nil {
				return list, err
			}
			if list.values[value] {
				return list, strictyaml.ErrorAt(entry.Value, "%s: %q is listed twice: remove one", entry.Key, strictyaml.Clip(value))
			}
			list.values[value] = true
		}
	}
	return list, nil
}

func allowedForm(entry strictyaml.Pair) (*regexp.Regexp, error) {
	members, err := strictyaml.Mapping(entry.Value)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Key != "pattern" {
			return nil, strictyaml.ErrorAt(m.Node, "%s: unknown key %q: known is pattern", entry.Key, strictyaml.Clip(m.Key))
		}
	}
	if len(members) == 0 {
		return nil, strictyaml.ErrorAt(entry.Node, "%s has no pattern: give it an expression, or write a text", entry.Key)
	}
	return expression(members[0], entry.Key+".pattern", `\A(?:%s)\z`)
}

func checkDefault(name string) error {
	if slices.Contains(kindNames, name) || slices.ContainsFunc(defaultKeys, func(k string) bool { return sameKey(k, name) }) {
		return nil
	}
	return fmt.Errorf("%q is not a default: name a default key, or one of the kinds %s",
		strictyaml.Clip(name), strings.Join(slices.Sorted(slices.Values(kindNames)), ", "))
}

func checkKey(name string) error {
	switch {
	case strings.Trim(name, "-_ ") == "":
		return errors.New("is empty: give the name of a member")
	case len(name) > maxKey:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(name), maxKey)
	}
	return nil
}

func checkName(name string) error {
	ok := func(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' }
	switch {
	case name == "":
		return errors.New("is empty: it is shown as [REDACTED:name]")
	case len(name) > maxName:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !ok(r) }):
		return fmt.Errorf("is %q: take letters a to z, digits and dashes", strictyaml.Clip(name))
	}
	return nil
}

func checkHint(hint string) error {
	if len(longest(hint)) < minHint {
		return fmt.Errorf("%q is too short: a hint has at least %d letters, digits, dashes or dots in a row", strictyaml.Clip(hint), minHint)
	}
	return nil
}

func checkValue(value string) error {
	switch {
	case value == "":
		return errors.New("is empty: give the text that is to stay")
	case len(value) > maxPattern:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(value), maxPattern)
	}
	return nil
}
