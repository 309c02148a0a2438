package events

import (
	"slices"
	"strings"
)

// patchMembers hold the text of a patch: patchText is OpenCode's, patch Amplifier's,
// input VS Code's, command that of Codex's hooks, diff that of a single change.
var patchMembers = []string{"patchText", "patch_text", "patch", "input", "command", "diff"}

// patchMarkers begin the lines of a patch that name files; what each does to one.
var patchMarkers = []struct {
	text      string
	operation ToolOperation
}{
	{"*** Add File:", OperationWrite},
	{"*** Update File:", OperationEdit},
	{"*** Delete File:", OperationDelete},
	{"*** Move to:", OperationMove},
}

// diffMarkers begin the lines of a unified diff that name files. Its own lines may begin
// so, too: a file too many is named then, and none too few.
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

// changeTypes are the operations of a change that names its path beside the diff.
var changeTypes = map[string]ToolOperation{"create_file": OperationWrite, "update_file": OperationEdit, "delete_file": OperationDelete}

// reach orders operations by how far they reach, the furthest first.
var reach = []ToolOperation{OperationDelete, OperationMove, OperationWrite, OperationEdit}

// readPatch adds the paths of the patches, and the operation that reaches furthest.
func (c toolCall) readPatch(t *Tool) {
	input := c.input.object
	operations := map[ToolOperation]bool{}
	if inner, ok := firstObject(input, []string{"operation"}); ok { // of OpenAI's own tool
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

// patch reads the lines that name files. It takes more for a line than agents do
// (any line break, spaces before, any case), so that no file stays unseen.
func (m *members) patch(text string, operations map[ToolOperation]bool) {
	for line := range strings.FieldsFuncSeq(text, isLineBreak) {
		line = strings.TrimSpace(line)
		m.diff(line, operations)
		if !strings.HasPrefix(line, "***") {
			continue
		}
		for _, marker := range patchMarkers {
			if len(line) > len(marker.text) && strings.EqualFold(line[:len(marker.text)], marker.text) {
				m.add(&m.paths, strings.TrimSpace(line[len(marker.text):]))
				operations[marker.operation] = true
			}
		}
	}
}

// diff reads a line of a unified diff. The directories a/ and b/ are not part of a path
// where a program that applies it takes them off, so each is read both ways.
func (m *members) diff(line string, operations map[ToolOperation]bool) {
	for _, marker := range diffMarkers {
		rest, found := strings.CutPrefix(line, marker.text)
		if !found {
			continue
		}
		rest, _, _ = strings.Cut(rest, "\t") // a date
		files := []string{rest}
		if at := strings.LastIndex(rest, " b/"); marker.text == "diff --git " && at >= 0 {
			files = []string{rest[:at], rest[at+1:]}
		}
		for _, file := range files {
			file = strings.Trim(strings.TrimSpace(file), `"`)
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
	return slices.Contains([]rune{'\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'}, r)
}
