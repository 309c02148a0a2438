package shell

import (
	"slices"
	"strings"
)

// opens is open('name'), and how it is opened.
func (p *python) opens(i int) (more int, ok bool) {
	text, ok := p.text(i + 2)
	pattern, found := p.globbed[p.at(i+2).value]
	if found && p.at(i+2).kind == 'n' {
		text, ok = pattern, true
	}
	if p.at(i+1).kind != '(' || !ok {
		return 0, false
	}
	mode, end := p.at(i+4), p.at(i+3).kind
	read := mode.kind == 't' && slices.Contains([]string{"r", "rb", "rt"}, mode.value) && (p.at(i+5).kind == ')' || p.at(i+5).kind == ',')
	decoded := p.is(i+4, "encoding") && p.at(i+6).kind == 't' && p.at(i+7).kind == ')'
	p.add(text, end != ')' && !read && !decoded)
	p.files[len(p.files)-1].File.Glob = found
	return 2, end == ')' || end == ','
}

// frame is what pandas reads or writes: a file that is named there, or a text.
func (p *python) frame(i int) (more int, ok bool) {
	writes := slices.Contains(frameWrites, p.at(i).value)
	if p.at(i+1).kind == '(' && p.at(i+2).kind == ')' {
		return 0, p.frames && writes
	}
	text, ok := p.text(i + 2)
	if end := p.at(i + 3).kind; !p.frames || !ok || p.at(i+1).kind != '(' || end != ')' && end != ',' {
		return 0, false
	}
	p.add(text, writes)
	return 2, true
}

// path is Path('name'), or the files that are found below it.
func (p *python) path(i int) (more int, ok bool) {
	text, ok := p.text(i + 2)
	if p.at(i+1).kind != '(' || !ok || p.at(i+3).kind != ')' || p.at(i+4).kind == '/' || p.at(i-1).kind == '/' || p.divides() {
		return 0, false
	}
	if p.at(i+4).kind != '.' || !p.is(i+5, "rglob") && !p.is(i+5, "glob") {
		p.add(text, p.writes)
		return 3, true
	}
	pattern, ok := p.text(i + 7)
	pattern = pattern[strings.LastIndexByte(pattern, '/')+1:]
	if !ok || p.at(i+6).kind != '(' || p.at(i+8).kind != ')' || strings.Contains(p.at(i+7).value, "..") {
		return 0, false
	}
	names := listed(Command{Words: []Word{{Text: "find", Known: true}, {Text: text, Known: true}, {Text: "-name", Known: true}, {Text: pattern, Known: true}}})
	for _, w := range names {
		p.files = append(p.files, Redirect{File: w, Write: p.writes})
	}
	return 8, len(names) > 0
}

// divides: with / a path leads to another one.
func (p *python) divides() bool {
	return slices.ContainsFunc(p.tokens, func(t pythonToken) bool { return t.kind == '/' })
}

func (p *python) add(name string, write bool) {
	p.files = append(p.files, Redirect{File: Word{Text: name, Known: true}, Write: write})
}
