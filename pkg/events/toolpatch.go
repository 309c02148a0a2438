package events

import (
	"slices"
	"strconv"
	"strings"
)

// patchMembers are the members with the text of a patch: patchText for OpenCode, patch for
// Amplifier, input for VS Code, command for Codex's hooks, diff for a single change.
var patchMembers = []string{"patchText", "patch_text", "patch", "input", "command", "diff"}

// patchMarkers are the prefixes of lines in a patch that name files, with their operations.
var patchMarkers = []struct {
	text      string
	operation ToolOperation
}{
	{"*** Add File:", OperationWrite},
	{"*** Update File:", OperationEdit},
	{"*** Delete File:", OperationDelete},
	{"*** Move to:", OperationMove},
}

// diffMarkers are the prefixes of lines in a unified diff that name files. Lines of content may
// have them too; then a file too many is reported, but never one too few.
var diffMarkers = []struct {
	text      string
	operation ToolOperation
}{
	{"--- ", OperationEdit},
	{"+++ ", OperationEdit},
	{"diff --git ", OperationEdit},
	{"rename from ", OperationMove},
	{"rename to ", OperationMove},
	{"copy to ", OperationWrite},
}

// changeTypes maps the type of a change that names its path next to the diff to its operation.
var changeTypes = map[string]ToolOperation{"create_file": OperationWrite, "update_file": OperationEdit, "delete_file": OperationDelete}

// reach orders operations by their effect, the greatest first.
var reach = []ToolOperation{OperationDelete, OperationMove, OperationWrite, OperationEdit}

// readPatch adds the paths in the patches, and the operation with the greatest effect.
func (c toolCall) readPatch(t *Tool) {
	input := c.input.object
	operations := map[ToolOperation]bool{}
	if inner, ok := firstObject(input, []string{"operation"}); ok { // OpenAI's own tool
		m := members{paths: t.Paths}
		m.read(inner)
		t.Paths, t.Partial = m.paths, t.Partial || m.partial
		input = inner
	}
	if kind, ok := input.GetString("type"); ok {
		operations[changeTypes[kind]] = true
	}
	texts := []string{c.input.text}
	for _, name := range patchMembers {
		if text, ok := input.GetString(name); ok {
			texts = append(texts, text)
		} else if v, ok := input.Get(name); ok { // as the words of a command
			words, _ := wordsOf(v)
			texts = append(texts, words...)
		}
	}
	m := members{paths: t.Paths}
	for _, text := range texts {
		m.patch(text, operations)
	}
	t.Paths, t.Partial = m.paths, t.Partial || m.partial
	for _, o := range reach {
		if operations[o] {
			t.Operation = o
			return
		}
	}
}

// editorOperation returns the operation of Claude's text editor tool, which is in its member
// command.
func editorOperation(input Object) ToolOperation {
	switch command, _ := input.GetString("command"); command {
	case "view":
		return OperationRead
	case "create":
		return OperationWrite
	default:
		return OperationEdit
	}
}

// readDiff adds the files of a diff that an editor gets. They are relative to its path or to the directory
// of that path.
func (c toolCall) readDiff(t *Tool) {
	text, ok := c.input.object.GetString("diff")
	if !ok || text == "" {
		return
	}
	var found members
	found.patch(text, map[ToolOperation]bool{})
	m := members{paths: t.Paths, partial: found.partial || len(found.paths) == 0}
	for _, dir := range slices.Clone(t.Paths) {
		for _, file := range found.paths {
			m.add(&m.paths, dir+"/"+file)
			m.add(&m.paths, dir+"/../"+file)
		}
	}
	t.Paths, t.Partial = m.paths, t.Partial || m.partial
}

// patch reads the lines that name files. It accepts more than agents do (any line break, leading
// spaces, any case), so that it misses no file. Agents that end lines only at "\n" take other line
// breaks as part of the name.
func (m *members) patch(text string, operations map[ToolOperation]bool) {
	for line := range strings.SplitSeq(text, "\n") {
		m.patchLine(line, operations)
		if strings.ContainsFunc(line, isLineBreak) {
			for part := range strings.FieldsFuncSeq(line, isLineBreak) {
				m.patchLine(part, operations)
			}
		}
	}
}

func (m *members) patchLine(line string, operations map[ToolOperation]bool) {
	line = strings.TrimSpace(line)
	m.diff(line, operations)
	if !strings.HasPrefix(line, "***") {
		return
	}
	for _, marker := range patchMarkers {
		if len(line) > len(marker.text) && strings.EqualFold(line[:len(marker.text)], marker.text) {
			name := line[len(marker.text):]
			for _, file := range []string{strings.TrimSpace(name), strings.TrimPrefix(name, " "), strings.TrimFunc(name, isSpace)} { // agents differ in what they trim
				m.add(&m.paths, file)
			}
			operations[marker.operation] = true
		}
	}
}

// diff reads a line of a unified diff. Some programs strip the directories a/ and b/ from its paths
// and others do not, so it adds both forms.
func (m *members) diff(line string, operations map[ToolOperation]bool) {
	for _, marker := range diffMarkers {
		rest, found := strings.CutPrefix(line, marker.text)
		if !found {
			continue
		}
		rest, _, _ = strings.Cut(rest, "\t") // a date follows
		files := []string{rest}
		if at := strings.LastIndex(rest, " b/"); marker.text == "diff --git " && at >= 0 {
			files = []string{rest[:at], rest[at+1:]}
		}
		for _, file := range files {
			file = strings.TrimSpace(file)
			if strings.HasPrefix(file, `"`) && strings.Contains(file, `\`) { // git quotes like C
				plain, err := strconv.Unquote(file)
				m.partial = m.partial || err != nil
				file = plain
			}
			file = strings.Trim(file, `"`)
			if file == "/dev/null" {
				continue
			}
			m.add(&m.paths, file)
			if _, below, ok := strings.Cut(file, "/"); ok && below != "" && !strings.HasPrefix(file, "/") {
				m.add(&m.paths, below)
			}
			operations[marker.operation] = true
		}
	}
}

func isLineBreak(r rune) bool {
	return slices.Contains([]rune{'\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029'}, r)
}
