package redact

import (
	"bytes"
	"slices"
	"strings"
)

// assigned are the endings of names whose value is a secret, as in DB_PASSWORD=…, "accessToken":
// "…" or --token …. An underscore also matches a dash.
var assigned = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials",
	"apikey", "api_key", "accesskey", "access_key", "secretkey", "secret_key", "privatekey", "private_key",
	"accountkey", "account_key", "signingkey", "signing_key", "encryptionkey", "encryption_key",
}

// assignment finds the value that is assigned to the name that ends with text[at:end].
func assignment(text []byte, at, end int) (from, to int) {
	name := at
	for name > 0 && isIdent(text[name-1]) {
		name--
	}
	value, how := separator(text, name, end)
	if how == 0 {
		return 0, 0
	}
	begin := lineBegin(text, name)
	pwd := bytes.EqualFold(text[at:end], []byte("pwd"))
	if from, to, ok := quoted(text, value); ok {
		bare := text[end] == '=' || text[end] == ':' || text[end] == ' '
		if bare && afterText(text[from:to]) || constant(text[from:to]) || placeholder(text[from:to]) || pwd && path(text[from:to]) {
			return 0, 0
		}
		return from, literal(text, from, to)
	}
	is := isUnquoted
	if how == tight && begin {
		is = isVisible
	}
	to = while(text[:min(len(text), value+scanned)], value, is)
	head := text[value:to]
	if harmless(head, text[name:end]) || pwd && path(head) {
		return 0, 0
	}
	if how == loose {
		alone := begin && (to == len(text) || text[to] == '\n' || text[to] == '\r') && !bytes.EqualFold(text[at:end], []byte("token"))
		if len(head) < 6 || !alone && !bytes.ContainsFunc(head, isDecimal) {
			return 0, 0
		}
	}
	return value, literal(text, value, while(text, to, is))
}

// literal ends a value before the first command in it, which must stay visible.
func literal(text []byte, from, to int) int {
	for _, command := range [...]string{"$(", "`", "${"} {
		if at := bytes.Index(text[from:to], []byte(command)); at >= 0 {
			to = from + at
		}
	}
	return to
}

// How a value follows its name. A value after a colon or spaces may be prose, so it must look more
// like a secret.
const (
	tight = iota + 1 // name=value
	loose            // name: value, name = value, --name value
)

// separator returns where the value of the name text[name:end] begins and how it follows the name;
// how is 0 if no value follows.
func separator(text []byte, name, end int) (value, how int) {
	i := end
	for i < len(text) && (text[i] == '\\' || text[i] == '"' || text[i] == '\'' || text[i] == ']') {
		i++
	}
	closed := i
	i = while(text, i, isSpace)
	rest := text[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("==")), bytes.HasPrefix(rest, []byte("::")), bytes.HasPrefix(rest, []byte("=~")):
		return 0, 0
	case bytes.HasPrefix(rest, []byte(":=")), bytes.HasPrefix(rest, []byte("=>")):
		i += 2
	case bytes.HasPrefix(rest, []byte("=")), bytes.HasPrefix(rest, []byte(":")):
		i++
	case i > end && closed == end && bytes.HasPrefix(text[name:], []byte("--")):
		return i, loose
	default:
		return 0, 0
	}
	value = while(text, i, isSpace)
	if value == i && closed+1 == i && text[closed] == '=' {
		return value, tight
	}
	return value, loose
}

// quoted returns the text between quotes at text[value:]. The quotes may be escaped, as in JSON
// within JSON; the closing quote has no more backslashes than the opening one.
func quoted(text []byte, value int) (from, to int, ok bool) {
	open := while(text, value, func(c byte) bool { return c == '\\' })
	if open == len(text) || text[open] != '"' && text[open] != '\'' && text[open] != '`' {
		return 0, 0, false
	}
	slashes := 0
	for to = open + 1; to < len(text) && text[to] != '\n'; to++ {
		switch {
		case text[to] == '\\':
			slashes++
			continue
		case text[to] == text[open] && slashes <= open-value:
			return open + 1, to - slashes, true
		}
		slashes = 0
	}
	return open + 1, to, true
}

func isVisible(c byte) bool { return c > ' ' }

func isUnquoted(c byte) bool {
	switch c {
	case '"', '\'', '`', ',', ';', '&', ')', '}', '<', '>', '|', '\\':
		return false
	}
	return c > ' '
}

// lineBegin reports whether text[name:] begins a line, except for a word such as export or set.
func lineBegin(text []byte, name int) bool {
	line := text[max(0, name-scanned):name]
	if len(line) == scanned && bytes.IndexByte(line, '\n') < 0 {
		return false
	}
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	switch string(bytes.TrimSpace(line)) {
	case "", "export", "set", "-", "-e", "ENV":
		return true
	}
	return false
}

// words are values that are never secrets: types, constants and placeholders.
var words = []string{
	"none", "null", "nil", "true", "false", "undefined", "string", "str", "int", "number", "bool",
	"boolean", "required", "optional", "any", "bytes", "object", "redacted", "hidden",
}

func constant(value []byte) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, string(value)) })
}

// afterText reports whether the text after a quote is code, so that the quote ended a string, as in
// "Password: ") or "token=" + t.
func afterText(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t")
	return len(rest) > 0 && bytes.ContainsAny(rest[:1], ")],;}+%")
}

// harmless reports whether an unquoted value is code, a constant or the like.
func harmless(value, name []byte) bool {
	if placeholder(value) || constant(value) || bytes.EqualFold(value, name) {
		return true
	}
	if len(name) >= 5 && bytes.EqualFold(name[len(name)-5:], []byte("token")) && while(value, 0, isDigit) == len(value) && len(value) < 10 {
		return true
	}
	if value[0] == '{' || value[0] == '[' {
		return !bytes.HasPrefix(value, []byte(markerStart))
	}
	call := while(value, 0, isDotted)
	if call > 0 && !isDigit(value[0]) && call < len(value) && (value[call] == '(' || value[call] == '[') {
		return true
	}
	object, _, member := bytes.Cut(value, []byte("."))
	return member && slices.Contains(objects, string(object))
}

// objects are the names of objects whose members are values in code.
var objects = []string{
	"self", "this", "args", "os", "process", "config", "cfg", "conf", "env", "req", "request", "ctx", "settings",
	"options", "opts", "user", "data", "params", "props", "state", "secrets", "var", "local", "event", "input",
}

// placeholder reports whether a value stands for another one: a variable, or asterisks.
func placeholder(value []byte) bool {
	switch {
	case len(value) == 0:
		return true
	case value[0] == '$':
		name := bytes.TrimPrefix(value[1:], []byte("{"))
		rest := name[while(name, 0, isWord):]
		return len(rest) < len(name) && !isDigit(name[0]) && (len(rest) == 0 || string(rest) == "}")
	case value[0] == '%':
		return len(value) == 2 || value[len(value)-1] == '%' && while(value, 1, isWord) == len(value)-1
	case value[0] == '<':
		return value[len(value)-1] == '>'
	case bytes.HasPrefix(value, []byte("{{")), bytes.HasPrefix(value, []byte("${{")):
		return bytes.HasSuffix(value, []byte("}}"))
	case bytes.ContainsAny(value[:1], "*xX.-"):
		return len(bytes.TrimLeft(value, string(value[:1]))) == 0
	}
	return false
}

// path reports whether a value looks like a directory, as PWD does.
func path(value []byte) bool {
	return len(value) > 0 && (bytes.ContainsAny(value[:1], "/~.$") || len(value) > 2 && value[1] == ':' && value[2] == '\\')
}

// secretName reports whether a member of this name contains a secret.
func secretName(name []byte) bool {
	for _, list := range [...][]string{assigned, headers} {
		for _, word := range list {
			if at := len(name) - len(word); at >= 0 && sameKey(string(name[at:]), word) {
				return true
			}
		}
	}
	return false
}
