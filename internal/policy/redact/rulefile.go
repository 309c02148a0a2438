package redact

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// Limits of a rules file.
const (
	maxFile     = 1 << 20 // bytes
	maxPatterns = 100
	maxPattern  = 1 << 10 // bytes of an expression or allowed value
	maxList     = 1000    // entries of keys, without and allow
	maxName     = 40      // bytes of a pattern's name
	minHint     = 3       // bytes
)

// ParseRules parses a rules file, YAML or JSON. Errors refer to it by name. The file adds to the
// defaults and removes from them; all its fields are optional:
//
//	without: [email]              # kinds and default keys that are not masked
//	keys: [pin, x-internal-auth]  # members whose values are always masked
//	patterns:
//	  - name: employee            # shown as [REDACTED:employee]
//	    pattern: 'EMP-[0-9]{6}'   # RE2; if it has a group, only the first group is masked
//	    hints: [EMP-]             # every match contains one of them; makes the search cheap
//	allow:                        # values that are never masked
//	  - 4111-1111-1111-1111       # exactly this value
//	  - pattern: '.*@example\.com' # or any value that matches as a whole
//
// A pattern without hints is tried on every string, unless it begins with a literal of at least
// three bytes.
//
// Errors have the form "redact.yaml:3:15: …". ParseRules rejects files that probably do not mean
// what they seem to: unknown and repeated keys and names, expressions that match the empty text, an
// empty file.
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

// listOf parses each entry of a list.
func listOf[T any](m strictyaml.Pair, most int, read func(strictyaml.Pair) (T, error)) ([]T, error) {
	list, ok := m.Value.(*ast.SequenceNode)
	if !ok {
		return nil, strictyaml.ErrorAt(m.Value, "%s: must be a list (lines that begin with -)", m.Key)
	}
	if len(list.Values) > most {
		return nil, strictyaml.ErrorAt(list, "%s: has %d entries: at most %d are allowed", m.Key, len(list.Values), most)
	}
	all := make([]T, 0, len(list.Values))
	for i, node := range list.Values {
		one, err := read(strictyaml.Pair{Key: fmt.Sprintf("%s[%d]", m.Key, i), Node: node, Value: node})
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// names parses a list of names that must be distinct for a keySet.
func names(m strictyaml.Pair, check func(string) error) ([]string, error) {
	var seen []string
	return listOf(m, maxList, func(entry strictyaml.Pair) (string, error) {
		name, err := checked(entry, check)
		if err == nil && slices.ContainsFunc(seen, func(other string) bool { return sameKey(other, name) }) {
			err = strictyaml.ErrorAt(entry.Value, "%s: %q is listed twice: remove one", entry.Key, name)
		}
		seen = append(seen, name)
		return name, err
	})
}

func customs(m strictyaml.Pair) ([]custom, error) {
	seen := map[string]bool{}
	return listOf(m, maxPatterns, func(entry strictyaml.Pair) (custom, error) {
		c, err := oneCustom(entry)
		if err == nil && seen[c.name] {
			err = strictyaml.ErrorAt(c.at, "%s.name %q is listed twice: use another name", entry.Key, c.name)
		}
		seen[c.name] = true
		return c, err
	})
}

func oneCustom(entry strictyaml.Pair) (custom, error) {
	members, err := strictyaml.Mapping(entry.Value)
	if err != nil {
		return custom{}, err
	}
	var c custom
	for _, m := range members {
		name := m.Key
		m.Key = entry.Key + "." + name
		switch name {
		case "name":
			c.name, err = checked(m, checkName)
			c.at = m.Value
		case "pattern":
			c.form, err = expression(m, "%s")
		case "hints":
			c.hints, err = listOf(m, maxList, hint)
		default:
			err = strictyaml.ErrorAt(m.Node, "%s: unknown key %q: known are name, pattern and hints", entry.Key, strictyaml.Clip(name))
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
	if literal, _ := c.form.LiteralPrefix(); len(c.hints) == 0 && len(longest(literal)) >= minHint {
		c.hints = []string{longest(literal)}
	}
	return c, nil
}

// hint parses a literal, and returns the longest part of it that can trigger a search.
func hint(entry strictyaml.Pair) (string, error) {
	text, err := checked(entry, checkHint)
	return longest(text), err
}

// allowed parses the list of values that are never masked.
func allowed(m strictyaml.Pair) (allowList, error) {
	list := allowList{values: map[string]bool{}}
	_, err := listOf(m, maxList, func(entry strictyaml.Pair) (none struct{}, err error) {
		switch entry.Value.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			form, err := allowedForm(entry)
			list.forms = append(list.forms, form)
			return none, err
		}
		value, err := checked(entry, checkValue)
		if err == nil && list.values[value] {
			err = strictyaml.ErrorAt(entry.Value, "%s: %q is listed twice: remove one", entry.Key, strictyaml.Clip(value))
		}
		list.values[value] = true
		return none, err
	})
	return list, err
}

// checked returns the member's text, which must pass check.
func checked(m strictyaml.Pair, check func(string) error) (string, error) {
	text, err := m.Text()
	if err != nil {
		return "", err
	}
	if err := check(text); err != nil {
		return "", strictyaml.ErrorAt(m.Value, "%s %w", m.Key, err)
	}
	return text, nil
}

// expression compiles a member's text, inserted into frame.
func expression(m strictyaml.Pair, frame string) (*regexp.Regexp, error) {
	text, err := checked(m, checkPattern)
	if err != nil {
		return nil, err
	}
	form, err := regexp.Compile(fmt.Sprintf(frame, text))
	if err != nil {
		return nil, strictyaml.ErrorAt(m.Value, "%s: too large: %q", m.Key, strictyaml.Clip(text))
	}
	return form, nil
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
	members[0].Key = entry.Key + ".pattern"
	return expression(members[0], `\A(?:%s)\z`)
}
