package events

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPassedNesting is the maximum nesting of objects and lists that are searched for calls.
const maxPassedNesting = 8

// passed searches the input of a tool that runs nothing itself, such as one for sub-agents: the
// recipient of the input may run what it contains.
type passed struct {
	name   string // of the tool
	slash  bool   // its command is a slash command of the agent
	calls  []toolCall
	unread bool
}

// passedOn returns the calls and commands anywhere in the input. unread reports that there are
// others.
func (c toolCall) passedOn(slash bool) (calls []toolCall, unread bool) {
	p := passed{name: c.name, slash: slash}
	if c.input.object.raw != nil {
		p.object(c.input.object, heldNames, 0)
	}
	if slash {
		p.mentions(c.input.object)
	}
	return p.calls, p.unread
}

// mention matches a file in a prompt, such as @a.txt, @"a b.txt" and @a.txt#L1-9.
var mention = regexp.MustCompile(`@(?:"([^"]+)"|([^\s"]+))`)

// mentions records the files that the texts of a skill's input name: Claude Code reads them as the
// skill is loaded, without a call.
func (p *passed) mentions(input Object) {
	for _, v := range input.All() {
		text, err := unquote(v)
		if err != nil {
			continue
		}
		for _, m := range mention.FindAllStringSubmatch(text, MaxToolCalls) {
			file, _, _ := strings.Cut(m[1]+m[2], "#")
			for _, path := range slices.Compact([]string{m[1] + m[2], file, strings.TrimRight(file, ".,;:!?)]}'")}) {
				if path != "" {
					p.calls = append(p.calls, toolCall{name: p.name, shape: readKind, hasShape: true, input: toolInput{object: readCall(path)}})
				}
			}
		}
	}
}

// readCall returns the input of a call that reads a file.
func readCall(path string) Object {
	w := NewObjectWriter(nil)
	w.String("file_path", path)
	o, _ := ParseObject(w.End()) // valid: one string
	return o
}

func (p *passed) object(o Object, names []string, depth int) {
	if depth == maxPassedNesting || len(p.calls) >= MaxToolCalls {
		p.unread = true
		return
	}
	var h heldCall
	h.read(o.Bytes(), names, maxCallNesting)
	kind, _ := kindOf(h.call.name)
	isShell := kind.class == ClassShell && (h.call.input.text != "" || h.call.input.broken)
	switch isCall := h.names > 0 && h.inputs > 0 && (h.call.input.object.raw != nil || isShell); {
	case isCall && h.names == 1 && h.inputs == 1:
		p.calls = append(p.calls, h.call)
		return
	case isCall:
		p.unread = true
		return
	}
	p.command(o, depth)
	for member, v := range o.All() {
		key := keyOf(member)
		if key == "tools" || slices.Contains(heldMembers, key) {
			if inner, unread := Unpacked(member, v); inner != nil {
				v = inner
			} else if unread {
				p.unread = true
			}
			p.byName(v)
		}
		p.value(v, depth+1)
	}
}

func (p *passed) value(v jsontext.Value, depth int) {
	switch v.Kind() {
	case '{':
		o, ok := objectOf(v)
		if !ok {
			p.unread = true
			return
		}
		p.object(o, heldListNames, depth)
	case '[':
		if depth == maxPassedNesting {
			p.unread = true
			return
		}
		for e := range elements(v) {
			p.value(e, depth+1)
		}
	}
}

// byName reads calls in the form {"Bash":{"command":…}}.
func (p *passed) byName(v jsontext.Value) {
	o, ok := objectOf(v)
	if !ok {
		return
	}
	for name, v := range o.All() {
		if _, known := kindOf(name); known && v.Kind() == '{' {
			p.calls = append(p.calls, toolCall{name: name, input: readInput(v)})
		}
	}
}

// slashCommand matches a command of an agent, such as /review. Programs are not in the root
// directory.
var slashCommand = regexp.MustCompile(`^/[\w:.-]+(\s[^;&|<>$` + "`" + `]*)?$`)

// command records an object that has a command of its own.
func (p *passed) command(o Object, depth int) {
	takes := false
	for member, v := range o.All() {
		line, _ := commandOf(v)
		key := keyOf(member)
		kind, _ := kindOf(member)
		switch r := roleOf(member); {
		case v.Kind() == 'n':
		case r == commandRole:
			takes = takes || depth > 0 || key != "command" || !p.slash && !slashCommand.MatchString(line)
		case r == listRole, r == argvRole:
			takes = takes || v.Kind() == '[' || v.Kind() == '{' || v.Kind() == '"'
		case (kind == shellKind || kind == codeKind) && line != "" && !isShell(line), key == "run" && strings.Contains(line, " "):
			p.calls = append(p.calls, toolCall{name: p.name, shape: shellKind, hasShape: true, input: toolInput{text: line}})
		}
	}
	if takes {
		p.calls = append(p.calls, toolCall{name: p.name, shape: shellKind, hasShape: true, input: toolInput{object: o}})
	}
}
