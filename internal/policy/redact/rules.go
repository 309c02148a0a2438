package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
)

// Rules define what is masked: by its form, by its name, or by the expressions of a rules file. The
// zero value and nil are the defaults, which include e-mail addresses; [ParseRules] returns other
// rules. Rules are immutable and safe for concurrent use.
type Rules struct {
	m *matcher // nil: the defaults
}

// Masker masks secrets. It is safe for concurrent use. [Rules] implement it, and so do rules that
// follow changes of a file.
type Masker interface {
	Object(raw []byte) (masked []byte, n int)
	Text(text string) (masked string, n int)
}

// Default returns the rules of an empty rules file.
func Default() *Rules { return new(Rules) }

// Object returns raw with the secrets in its values, at any depth, replaced by [REDACTED:kind], and
// the number of replacements. Within a string, only the secret is replaced; the value of a member
// whose name is in the list of keys becomes a string as a whole, whatever its type. All other bytes
// stay the same, and if nothing was found, raw itself is returned. Input that is not JSON can't be
// searched: it is replaced by the empty object, which counts as one replacement.
func (r *Rules) Object(raw []byte) (redacted []byte, replaced int) {
	return r.matcher().object(raw)
}

// Text returns a plain text with its secrets replaced as in a string of [Rules.Object], and the
// number of replacements.
func (r *Rules) Text(text string) (redacted string, replaced int) {
	return r.matcher().text(text)
}

// ForApproval returns the rules for data that a person approves. They hide no part of a command: a
// value that is recognized by its name or by an expression of a rules file is masked only up to the
// first character that could begin another word or command in a shell. The rest stays visible, even
// if it is part of a password. The result may be shared.
func (r *Rules) ForApproval() *Rules { return &Rules{m: r.matcher().forApproval()} }

func (r *Rules) matcher() *matcher {
	if r == nil || r.m == nil {
		return defaults()
	}
	return r.m
}

var defaults = sync.OnceValue(func() *matcher { return build(settings{}) })

// settings are the content of a rules file.
type settings struct {
	without  []string // kinds and keys
	keys     []string
	patterns []custom
	allow    allowList
}

// custom is a pattern of a rules file.
type custom struct {
	name  string
	form  *regexp.Regexp
	hints []string // runs of characters that have codes
	at    ast.Node // of the name, for errors
}

// defaultKeys are the names of members whose values are always masked. Case is ignored, - and _ are
// equal, and each name also matches without them.
var defaultKeys = []string{
	"password", "passwd", "passphrase", "secret", "token", "access_token", "refresh_token", "id_token", "auth_token",
	"session_token", "api_key", "x_api_key", "authorization", "proxy_authorization", "cookie", "set_cookie",
	"private_key", "client_secret", "secret_key", "secret_access_key", "aws_secret_access_key", "credentials",
	"card_number", "cvv", "cvc",
}

// build compiles valid settings.
func build(s settings) *matcher {
	m := &matcher{triggers: [][]trigger{nil}, allow: s.allow, markers: slices.Clone(kindNames)}
	on := func(name string) bool {
		return !slices.ContainsFunc(s.without, func(off string) bool { return sameKey(off, name) })
	}
	for _, t := range kinds {
		if on(t.kind) {
			m.add(t)
		}
	}
	m.url, m.email, m.assigned = on(kindURLPassword), on(kindEmail), on(kindAssignment)
	if on(kindKey) {
		for _, key := range defaultKeys {
			if on(key) {
				m.keys.add(key)
			}
		}
	}
	for _, key := range s.keys {
		m.keys.add(key)
	}
	for _, c := range s.patterns {
		p := &pattern{kind: c.name, form: c.form, group: min(c.form.NumSubexp(), 1)}
		if !slices.Contains(m.markers, c.name) {
			m.markers = append(m.markers, c.name)
		}
		for _, hint := range c.hints {
			m.add(trigger{kind: c.name, hint: hint, pattern: p})
		}
		if len(c.hints) == 0 {
			m.always = append(m.always, p)
		}
	}
	m.forApproval = sync.OnceValue(func() *matcher {
		shown := *m
		shown.approval = true
		return &shown
	})
	return m
}

// kindNames are the names of the default kinds.
var kindNames = func() []string {
	names := []string{kindURLPassword, kindEmail, kindKey}
	for _, t := range kinds {
		if !slices.Contains(names, t.kind) {
			names = append(names, t.kind)
		}
	}
	return names
}()

// kindOf returns the kind as which the value of a member is masked, or "". hot reports whether the
// name contains a hint.
func (m *matcher) kindOf(name []byte, hot bool) string {
	switch {
	case m.keys.has(name):
		return kindKey
	case hot && m.assigned && secretName(name):
		return kindAssignment
	}
	return ""
}

// kindOfPath is like kindOf, for the target of a JSON Pointer, which must begin with a slash.
func (m *matcher) kindOfPath(pointer []byte) string {
	kind := ""
	for name := range bytes.SplitSeq(pointer[1:], []byte("/")) {
		if k := m.kindOf(name, true); k != "" && kind != kindKey {
			kind = k
		}
	}
	return kind
}

// keySet is a set of names. Case is ignored, and - and _ are equal.
type keySet struct {
	names   map[string]bool
	lengths [256]uint64 // by first byte, a bit for each length of a name
}

// maxKey is the maximum length of a name in a keySet, in bytes.
const maxKey = 63

func (k *keySet) add(name string) {
	folded := string(foldKey(nil, []byte(name)))
	if k.names == nil {
		k.names = map[string]bool{}
	}
	for _, form := range [...]string{folded, strings.ReplaceAll(folded, "_", "")} {
		if form != "" {
			k.names[form] = true
			k.lengths[form[0]] |= 1 << len(form)
		}
	}
}

func (k *keySet) has(name []byte) bool {
	if len(name) == 0 || len(name) > maxKey || k.lengths[foldByte(name[0])]&(1<<len(name)) == 0 {
		return false
	}
	var folded [maxKey]byte
	return k.names[string(foldKey(folded[:0], name))]
}

// sameKey compares names as a keySet does.
func sameKey(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if foldByte(a[i]) != foldByte(b[i]) {
			return false
		}
	}
	return true
}

func foldKey(to, name []byte) []byte {
	for _, c := range name {
		to = append(to, foldByte(c))
	}
	return to
}

func foldByte(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c | 0x20
	case c == '-':
		return '_'
	}
	return c
}

// allowList contains the values that are never masked.
type allowList struct {
	values map[string]bool
	forms  []*regexp.Regexp
}

func (a *allowList) has(secret []byte) bool {
	return a.values[string(secret)] || slices.ContainsFunc(a.forms, func(f *regexp.Regexp) bool { return f.Match(secret) })
}
