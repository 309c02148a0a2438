package events

import "github.com/go-json-experiment/json/jsontext"

func (m *members) arguments(v jsontext.Value) {
	args, ok := argumentsOf(v)
	m.oddArgs = m.oddArgs || !ok
	if args.line != "" {
		m.args = append(m.args, args)
	}
}

// lines reads a command or a list of commands. Each is a text, a list of words, or an object.
func (m *members) lines(v jsontext.Value, depth int) {
	if v.Kind() != '[' {
		m.line(v, depth)
		return
	}
	for e := range elements(v) {
		m.line(e, depth)
	}
}

// line reads one command.
func (m *members) line(v jsontext.Value, depth int) {
	if v.Kind() == '{' {
		m.step(v, depth)
		return
	}
	m.command(v)
}

func (m *members) command(v jsontext.Value) {
	line, ok := commandOf(v)
	m.add(&m.commands, line)
	m.partial = m.partial || !ok
}

// steps reads the commands of the objects in a list and ignores other elements.
func (m *members) steps(v jsontext.Value, depth int) {
	if v.Kind() == '{' {
		m.step(v, depth)
	}
	if v.Kind() != '[' {
		return
	}
	for e := range elements(v) {
		if e.Kind() == '{' {
			m.step(e, depth)
		}
	}
}

// step adds the commands, paths and URLs of an object.
func (m *members) step(v jsontext.Value, depth int) {
	o, ok := objectOf(v)
	if !ok || depth == 0 {
		m.partial = true
		return
	}
	var inner members
	inner.readWithin(o, depth-1)
	inner.joinArguments()
	m.takesCommand = m.takesCommand || inner.takesCommand
	m.partial = m.partial || inner.partial
	for _, part := range [...]struct {
		to   *[]string
		from []string
	}{{&m.commands, inner.commands}, {&m.paths, inner.paths}, {&m.urls, inner.urls}} {
		for _, text := range part.from {
			m.add(part.to, text)
		}
	}
}
