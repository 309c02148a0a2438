package code

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// indexes reports whether a bracket follows a value, rather than beginning a list.
func (r *reader) indexes(i int) bool {
	switch before := r.at(i - 1); before.kind {
	case ')', ']', 't', '}', '0', '!':
		return true
	case 'n':
		return r.member(i-1) || r.at(i-2).kind == '#' || r.at(i).kind == '[' && !slices.Contains([]string{"return", "const", "let", "var", "of", "in", "typeof", "case", "await", "yield", "new", "else"}, before.value)
	case '.':
		return true // ?.[
	}
	return false
}

// indexed reports whether access to a member with a computed name yields data: the member is not
// called, and its name is not concatenated.
func (r *reader) indexed(i int) bool {
	if end := r.closing(i); !(end == i+2 && r.at(i+1).kind == '0') && !r.stays(i, end) {
		return false
	}
	depth := 0
	for j := i; j < len(r.tokens); j++ {
		switch t := r.at(j); t.kind {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			if depth--; depth == 0 {
				numbered := j == i+2 && r.at(i+1).kind == '0'
				return numbered || r.at(j+1).kind != '(' && r.at(j+1).kind != '[' && !(r.at(j+1).kind == '.' && r.at(j+2).kind == '[') && !(r.at(j+1).kind == '?' && r.at(j+2).kind == '.' && r.at(j+3).kind != 'n') || r.numbered(j+1)
			}
		case 't':
			if !t.plain || r.refused[t.value] || strings.HasPrefix(t.value, "__") || r.at(j+1).kind == '+' && r.at(j+2).kind == 't' {
				return false
			}
		}
	}
	return false
}

// stays reports whether a member with a computed name, in the brackets from i to end, is only
// printed, compared, computed with or assigned to. It is not called and gets no other name.
func (r *reader) stays(i, end int) bool {
	next := r.at(end + 1)
	if r.data[r.at(i-1).value] && r.at(i-1).kind == 'n' && !r.member(i-1) {
		return next.kind != '(' && next.kind != 't'
	}
	switch next.kind {
	case '(', 't', '[':
		return false
	case '=':
		return r.at(end+2).kind != '>'
	case '.':
		name := r.at(end + 2).value
		if r.at(end+3).kind == '(' && !jsComputes[name] {
			return false
		}
	case ')', ',', ']', '}', ends:
		begin := i
		for begin > 0 && (r.at(begin-1).kind == 'n' || r.at(begin-1).kind == '?' && r.at(begin).kind == '.' || r.at(begin-1).kind == '.' || r.at(begin-1).kind == '[') && r.at(begin-1).value != "return" {
			begin--
		}
		switch before := r.at(begin - 1); {
		case strings.IndexByte("+-*/<|&?:", before.kind) >= 0 && !(before.kind == '>' && r.at(begin-2).kind == '='):
			return true
		case before.kind == '=' && r.at(begin-2).kind == '=', before.kind == field, before.kind == '!':
			return true
		}
		return jsTaking[r.caller(i)]
	}
	return true
}

var (
	// jsComputes are methods of strings, numbers and arrays. jsTaking are functions that do not
	// call their arguments.
	jsComputes = wordset.Of("toFixed toString trim toLowerCase toUpperCase padEnd padStart slice split includes startsWith endsWith length toLocaleString charCodeAt substring join indexOf push has get add")
	jsTaking   = wordset.Of("log table error warn info String Number parseInt parseFloat stringify abs max min round floor ceil isNaN isFinite")
)

// numbered reports whether an index such as [0], or a one-letter counter, is at i.
func (r *reader) numbered(i int) bool {
	index := r.at(i + 1)
	return r.at(i).kind == '[' && r.at(i+2).kind == ']' && r.at(i+3).kind != '(' && r.at(i+3).kind != '[' && (index.kind == '0' || index.kind == 'n' && len(index.value) == 1)
}

// keyed reports whether the bracket at i begins a computed key of an object: {[k]: v}.
func (r *reader) keyed(i int) bool {
	if before := r.at(i - 1).kind; before != '{' && before != ',' {
		return false
	}
	return r.at(r.closing(i)+1).kind == ':'
}
