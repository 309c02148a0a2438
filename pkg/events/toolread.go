package events

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// tool returns the normal form of a call.
func (c toolCall) tool() Tool {
	t := Tool{Name: c.name, Partial: c.input.broken || c.name == "" && !c.hasShape || len(c.others) > 0}
	kind, known := c.classify(&t)
	m := members{guesses: kind.class == ClassMCP || !known}
	if action, ok := firstObject(c.input.object, []string{"action"}); ok && kind == shellKind { // OpenAI's local_shell
		if c.input.object.Len() == 1 {
			c.input.object = action
		} else { // it is unknown which one counts
			m.step(action.Bytes(), maxCallNesting)
		}
	}
	m.read(c.input.object)
	m.joinArguments()
	if !known {
		kind = otherKind
		if m.takesCommand {
			kind = shellKind
		}
	}
	t.Class, t.Known, t.Operation = kind.class, known, kind.operation
	t.Partial = t.Partial || m.partial
	t.Cwd = cmp.Or(m.cwd, c.cwd)

	switch {
	case kind.class == ClassShell:
		t.Cwd = cmp.Or(m.cwd, m.dir, c.cwd)
		c.readShell(&t, kind, m)
	case kind.class == ClassMCP || !known:
		if kind.class == ClassMCP {
			for _, command := range m.maybe.commands {
				m.add(&m.commands, command)
			}
		}
		t.Command = strings.Join(m.commands, "\n")
		for _, path := range m.maybe.paths {
			m.add(&m.paths, path)
		}
		for _, url := range m.maybe.urls {
			m.add(&m.urls, url)
		}
		t.Partial = t.Partial || m.partial || m.maybe.more
	}
	if kind.class != ClassShell || !known {
		t.Paths, t.URLs = m.paths, m.urls
	}
	switch kind.form {
	case patch:
		c.readPatch(&t)
	case editor:
		t.Operation = editorOperation(c.input.object)
		c.readDiff(&t)
	case globs:
		c.readGlobs(&t)
	case finder:
		c.readNames(&t)
	case script:
		t.Partial = true // its language is not analyzed
	case bundle:
		t.Partial = true
	}
	if kind.class == ClassWeb && kind.operation == OperationFetch {
		c.readURLs(&t)
	}
	t.addFiles()
	t.Partial = t.Partial || c.input.text != "" && !takesText(kind) || lacksPath(t)
	return t
}

// classify returns the kind of the call, and whether it is certain. It also sets t's MCP server and
// tool.
func (c toolCall) classify(t *Tool) (kind toolKind, known bool) {
	server, tool, ok := mcpName(c.name)
	if !ok && c.isMCP {
		tool = c.name
	}
	if ok || c.isMCP {
		t.Server, t.ServerTool = cmp.Or(c.server, server), cmp.Or(c.remote, tool)
		return mcpKind, true
	}
	if c.hasShape {
		return c.shape, true
	}
	if c.joined {
		return toolKind{}, false
	}
	if tool := resourceToolOf(c.name); tool != "" {
		t.Server, _ = c.input.object.GetString("server")
		t.ServerTool = tool
		return mcpKind, true
	}
	return kindOf(c.name)
}

// mcpName splits the name of an MCP server's tool: mcp__server__tool (Claude Code, Codex), MCP:tool
// (Cursor), mcp_server_tool (Gemini CLI, VS Code). In the last form, '_' in a server's name is
// ambiguous.
func mcpName(name string) (server, tool string, ok bool) {
	if len(name) < len("mcp_") || !strings.EqualFold(name[:len("mcp")], "mcp") {
		return "", "", false
	}
	switch rest := name[len("mcp"):]; {
	case strings.HasPrefix(rest, "__"):
		server, tool, _ = strings.Cut(rest[2:], "__")
		return server, tool, true
	case rest[0] == ':':
		return "", rest[1:], true
	case rest[0] == '_':
		server, tool, ok = strings.Cut(rest[1:], "_")
		return server, tool, ok
	}
	return "", "", false
}

// Input that only ends a program running in a shell.
const (
	interrupt  = "\x03"
	endOfInput = "\x04"
)

// readShell sets the command. A shell without a command, or with arguments that are not words, is
// partial.
func (c toolCall) readShell(t *Tool, kind toolKind, m members) {
	commands := m.commands
	if kind.form == typed {
		for _, text := range c.typed(t) {
			commands = append(commands, text)
			t.Partial = true // the line that it completes, the directory and the program that reads it are unknown
		}
	}
	if c.input.text != "" {
		commands = append(commands, c.input.text)
	}
	if code, _ := c.input.object.GetString("code"); kind.form == script && code != "" {
		commands = append(commands, code)
	}
	t.Command = strings.Join(commands, "\n")
	if t.Command == "" && kind.form == usual || len(commands) > 0 && (m.oddArgs || m.beside) {
		t.Partial = true
	}
}

// typed returns all texts that may be typed into a running shell, except those that only end a
// program. Only the agent knows which member its tool uses.
func (c toolCall) typed(t *Tool) (texts []string) {
	for name, v := range c.input.object.All() {
		if !slices.Contains(typedMembers, keyOf(name)) || v.Kind() == 'n' {
			continue
		}
		text, err := unquote(v)
		t.Partial = t.Partial || err != nil
		if text != "" && text != interrupt && text != endOfInput {
			texts = append(texts, strings.ReplaceAll(text, "{enter}", "\n")) // Copilot CLI's notation
		}
	}
	return texts
}

// typedMembers are the members with typed text, in the form of [appendKey]: chars for Codex, input
// for Copilot CLI.
var typedMembers = []string{"chars", "input", "text", "keys", "data"}

// readURLs adds the addresses in the prompt, where the fetch tool of Gemini CLI has them.
func (c toolCall) readURLs(t *Tool) {
	prompt, _ := c.input.object.GetString("prompt")
	if len(t.URLs) == 0 || strings.Contains(c.name, "_") { // Claude Code's WebFetch ignores addresses in its prompt
		m := members{urls: t.URLs}
		for word := range strings.FieldsFuncSeq(prompt, func(r rune) bool { return isSpace(r) || r < ' ' || strings.ContainsRune(`"'<>()[]{}`, r) }) {
			if at := indexURL(word); at >= 0 {
				m.add(&m.urls, word[at:])
			}
		}
		t.URLs, t.Partial = m.urls, t.Partial || m.partial
	}
	t.Partial = t.Partial || len(t.URLs) == 0
}

// isSpace reports whether Go or JavaScript treats a character as white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// indexURL returns the index of an address in a word, or -1.
func indexURL(word string) int {
	end := strings.Index(word, "://")
	for _, scheme := range []string{"https", "http", "file"} {
		if at := end - len(scheme); at >= 0 && strings.EqualFold(word[at:end], scheme) {
			return at
		}
	}
	return -1
}

func takesText(kind toolKind) bool { return kind.class == ClassShell || kind.form == patch }

// lacksPath reports whether a tool for files needs a path and has none. Only list and search have a
// default directory.
func lacksPath(t Tool) bool {
	needs := []ToolOperation{OperationRead, OperationWrite, OperationEdit, OperationDelete, OperationMove}
	return t.Class == ClassFile && len(t.Paths) == 0 && slices.Contains(needs, t.Operation)
}
