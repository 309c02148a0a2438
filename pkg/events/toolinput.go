package events

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// toolInput is the input of a call: an object, or a text for tools that take one. The zero
// toolInput means no input.
type toolInput struct {
	object Object
	text   string
	broken bool // neither of these, or a text that begins like an object
}

// readInput reads an input. Some agents send the object as JSON in a string.
func readInput(v jsontext.Value) toolInput {
	switch {
	case v == nil:
		return toolInput{}
	case v.Kind() == '{':
		o, err := ParseObject(v)
		return toolInput{object: o, broken: err != nil}
	case v.Kind() != '"':
		return toolInput{broken: true}
	}
	text, err := unquote(v)
	if err != nil || !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return toolInput{text: text, broken: err != nil}
	}
	o, err := ParseObject([]byte(text))
	if err != nil {
		return toolInput{text: text, broken: true}
	}
	return toolInput{object: o}
}

// role is the meaning of a member of an input.
type role int

const (
	noRole role = iota
	commandRole
	argsRole // arguments of a command
	argvRole // arguments of a command, or a whole command if there is no other
	listRole // several commands
	stepRole // objects with their own commands
	cwdRole
	dirRole // working directory of a shell; a path for other tools
	pathRole
	urlRole
	nestedRole  // objects that name their own files
	besideRole  // something else that a shell gets: variables, input, another shell
	sandboxRole // whether a shell leaves the agent's sandbox
	namedRole   // of a tool with unknown members: the name ends like one of a path
)

// memberRoles maps names in the form of [appendKey] to roles.
var memberRoles = map[string]role{
	"command": commandRole, "cmd": commandRole, "commandline": commandRole, "script": commandRole,
	"shellcommand": commandRole, "bashcommand": commandRole, "clicommand": commandRole, "cmdline": commandRole, "program": commandRole, "executable": commandRole,
	"argv": argvRole, "commands": listRole, "cmds": listRole, "scripts": listRole, "steps": stepRole, "actions": stepRole, "tasks": stepRole, "operations": stepRole,
	"args": argsRole, "arguments": argsRole, "commandargs": argsRole, "commandarguments": argsRole,
	"cwd": cwdRole, "workdir": cwdRole, "workingdirectory": cwdRole, "workingdir": cwdRole,
	"directory": dirRole, "dir": dirRole, "dirpath": dirRole,
	"path": pathRole, "paths": pathRole, "filepath": pathRole, "filepaths": pathRole, "file": pathRole, "files": pathRole,
	"filename": pathRole, "absolutepath": pathRole, "notebookpath": pathRole, "targetfile": pathRole, "targetdirectory": pathRole,
	"targetdirectories": pathRole, "targetnotebook": pathRole,
	"relativeworkspacepath": pathRole, "source": pathRole, "destination": pathRole, "sourcepath": pathRole, "destinationpath": pathRole,
	"root": pathRole, "rootdir": pathRole, "rootpath": pathRole, "basepath": pathRole, "localpath": pathRole, "oldpath": pathRole, "newpath": pathRole,
	"url": urlRole, "urls": urlRole, "uri": urlRole, "endpoint": urlRole, "href": urlRole, "address": urlRole,
	"env": besideRole, "environment": besideRole, "environmentvariables": besideRole, "stdin": besideRole, "shell": besideRole,
	"dangerouslydisablesandbox": sandboxRole, "disablesandbox": sandboxRole, "sandboxpermissions": sandboxRole, "additionalpermissions": sandboxRole,
	"requiredpermissions": sandboxRole, "withescalatedpermissions": sandboxRole,
	"edits": nestedRole, "replacements": nestedRole, "changes": nestedRole,
}

func roleOf(name string) role {
	var buf [maxKeyLen + 1]byte
	return memberRoles[string(appendKey(buf[:0], name))]
}

// members collects the members of an input that have a role.
type members struct {
	commands     []string
	args         []arguments
	argv         bool // some of args may be a whole command
	oddArgs      bool // some arguments are not words
	takesCommand bool // there is a command, even if it can't be read
	cwd, dir     string
	paths, urls  []string
	partial      bool
	beside       bool // a shell gets more than its command

	guesses bool // the tool's members are unknown
	maybe   guessed
}

// read reads all members: if several could be meant, a guard must see them all.
func (m *members) read(o Object) { m.readWithin(o, maxCallNesting) }

// readWithin is read with a limit for the nesting of objects with commands.
func (m *members) readWithin(o Object, depth int) {
	for name, v := range o.All() {
		if v.Kind() == 'n' {
			continue
		}
		role := roleOf(name)
		if role == noRole && m.guesses && endsAsPath(name) {
			role = namedRole
		}
		m.readAs(role, v, depth)
		if role == noRole && !m.guesses {
			continue
		}
		inner, unread := Unpacked(name, v)
		if inner != nil {
			m.readAs(role, inner, depth)
		}
		m.partial = m.partial || unread && role != noRole
	}
}

// readAs reads the value of a member with the given role.
func (m *members) readAs(as role, v jsontext.Value, depth int) {
	switch as {
	case commandRole:
		m.takesCommand = true
		m.command(v)
	case argsRole:
		m.arguments(v)
	case argvRole:
		m.arguments(v)
		m.argv = true
	case listRole:
		m.takesCommand = true
		m.lines(v, depth)
	case stepRole:
		m.steps(v, depth)
	case cwdRole:
		m.cwd = m.only(m.cwd, v)
	case dirRole:
		m.dir = m.only(m.dir, v)
		m.collect(&m.paths, v, true)
	case pathRole:
		m.collect(&m.paths, v, true)
	case urlRole:
		m.collect(&m.urls, v, false)
	case nestedRole:
		m.nested(v)
	case besideRole:
		m.beside = m.beside || !plain(v)
	case sandboxRole:
		m.beside = m.beside || !sandboxed(v)
	case namedRole:
		m.guess(v, true)
	case noRole:
		m.guess(v, false)
	}
}

// plain reports whether a value next to a command has no effect: it is empty, or the name of a
// shell like bash.
func plain(v jsontext.Value) bool {
	switch v.Kind() {
	case '{', '[':
		return len(bytes.Trim(v, "{}[] \t\r\n")) == 0
	case '"':
		text, err := unquote(v)
		return err == nil && (text == "" || likeBash(text))
	}
	return v.Kind() != '0'
}

// sandboxed reports whether a member that may disable the agent's sandbox keeps it.
func sandboxed(v jsontext.Value) bool {
	switch v.Kind() {
	case 'f':
		return true
	case '"':
		text, err := unquote(v)
		return err == nil && (text == "" || text == "use_default")
	case '{', '[':
		return len(bytes.Trim(v, "{}[] \t\r\n")) == 0
	default:
		return false
	}
}

// only keeps the first of several values where there can be only one. A different second value
// makes the input partial.
func (m *members) only(have string, v jsontext.Value) string {
	text, err := unquote(v)
	if err != nil || have != "" && have != text {
		m.partial = true
	}
	if have != "" {
		return have
	}
	return text
}

// collect appends a text or a list of texts; with deeper, also the paths in objects.
func (m *members) collect(to *[]string, v jsontext.Value, deeper bool) {
	switch v.Kind() {
	case '"':
		text, err := unquote(v)
		m.add(to, text)
		m.add(to, strings.TrimFunc(text, isSpace)) // some agents trim paths
		m.partial = m.partial || err != nil
	case '[':
		for e := range elements(v) {
			if e.Kind() == '[' {
				m.partial = true
				continue
			}
			m.collect(to, e, deeper)
			if m.partial && len(*to) == MaxToolPaths {
				break
			}
		}
	case '{':
		m.partial = m.partial || !deeper
		if deeper {
			m.nested(v)
		}
	default:
		m.partial = true
	}
}

// nested collects the paths of an object or of the objects in a list, without recursion.
func (m *members) nested(v jsontext.Value) {
	if v.Kind() == '[' {
		for e := range elements(v) {
			if e.Kind() == '{' {
				m.nested(e)
			}
			if m.partial && len(m.paths) == MaxToolPaths {
				break
			}
		}
		return
	}
	o, ok := objectOf(v)
	m.partial = m.partial || !ok
	for name, v := range o.All() {
		if r := roleOf(name); (r == pathRole || r == dirRole) && v.Kind() == '"' {
			m.collect(&m.paths, v, false)
		}
	}
}

// add appends a text up to the limit, and marks the input as partial beyond it.
func (m *members) add(to *[]string, text string) {
	switch {
	case text == "" || slices.Contains(*to, text):
	case len(*to) == MaxToolPaths:
		m.partial = true
	default:
		*to = append(*to, text)
	}
}

// elements iterates over a list that was checked before.
func elements(list jsontext.Value) func(yield func(jsontext.Value) bool) {
	return func(yield func(jsontext.Value) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(list))
		if _, err := dec.ReadToken(); err != nil {
			return
		}
		for dec.PeekKind() != ']' {
			v, err := dec.ReadValue()
			if err != nil || !yield(v) {
				return
			}
		}
	}
}

func unquote(v jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), err
}
