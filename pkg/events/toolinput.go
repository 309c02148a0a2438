package events

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// toolInput is the input of a call: an object, or a text where the tool takes one.
// The zero toolInput is for a call without input.
type toolInput struct {
	object Object
	text   string
	broken bool // it is neither, or a text that began as an object
}

// readInput reads an input; some agents send the object as JSON in a string.
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

// role is what a member of an input means.
type role int

const (
	noRole role = iota
	commandRole
	argsRole // the words behind a command
	cwdRole
	dirRole // where a shell runs, and a path of any other tool
	pathRole
	urlRole
	nestedRole // objects that name files of their own
)

// memberRoles is by name as [appendKey] makes it.
var memberRoles = map[string]role{
	"command": commandRole, "cmd": commandRole, "commandline": commandRole, "script": commandRole,
	"shellcommand": commandRole, "bashcommand": commandRole,
	"args": argsRole, "arguments": argsRole, "argv": argsRole, "commandargs": argsRole, "commandarguments": argsRole,
	"cwd": cwdRole, "workdir": cwdRole, "workingdirectory": cwdRole, "workingdir": cwdRole,
	"directory": dirRole, "dir": dirRole, "dirpath": dirRole,
	"path": pathRole, "paths": pathRole, "filepath": pathRole, "filepaths": pathRole, "file": pathRole, "files": pathRole,
	"filename": pathRole, "absolutepath": pathRole, "notebookpath": pathRole, "targetfile": pathRole, "targetdirectory": pathRole,
	"targetdirectories": pathRole, "targetnotebook": pathRole,
	"relativeworkspacepath": pathRole, "source": pathRole, "destination": pathRole, "sourcepath": pathRole, "destinationpath": pathRole,
	"oldpath": pathRole, "newpath": pathRole,
	"url": urlRole, "urls": urlRole, "uri": urlRole,
	"edits": nestedRole, "replacements": nestedRole, "changes": nestedRole,
}

func roleOf(name string) role {
	var buf [maxKeyLen + 1]byte
	return memberRoles[string(appendKey(buf[:0], name))]
}

// members is what an input holds that has a role.
type members struct {
	commands     []string
	args         []arguments
	oddArgs      bool // there are arguments that are no words
	takesCommand bool // there is a command, readable or not
	cwd, dir     string
	paths, urls  []string
	partial      bool
}

// read takes every member: where several could be meant, a guard shall see all.
func (m *members) read(o Object) {
	for name, v := range o.All() {
		if v.Kind() == 'n' {
			continue
		}
		switch roleOf(name) {
		case commandRole:
			m.takesCommand = true
			line, ok := commandOf(v)
			m.add(&m.commands, line)
			m.partial = m.partial || !ok
		case argsRole:
			args, ok := argumentsOf(v)
			m.oddArgs = m.oddArgs || !ok
			if args.line != "" {
				m.args = append(m.args, args)
			}
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
		}
	}
}

// only is for what there can be one of: the first, and a second one is said.
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

// collect appends a text or a list of texts; with deeper also the paths of objects.
func (m *members) collect(to *[]string, v jsontext.Value, deeper bool) {
	switch v.Kind() {
	case '"':
		text, err := unquote(v)
		m.add(to, text)
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

// nested reads the paths of an object, or of those in a list, and goes no deeper.
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

// add keeps the bound, and says where it is reached.
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
