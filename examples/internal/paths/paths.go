// Package paths reads the files that a tool event is about, whatever the agent
// and the tool are called.
package paths

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Match is the registration match of hooks that judge files: it holds for tools
// that are given a path in one of the members that [Of] reads.
const Match = "has(data.tool_input) && (has(data.tool_input.file_path) ||" +
	" has(data.tool_input.notebook_path) || has(data.tool_input.path))"

// Of returns the files that a tool:pre or tool:post event names, each as [Clean]
// writes it; none where the tool is given none. A path that is no text is an
// error: what the tool would make of it is not known.
func Of(ev events.Event) ([]string, error) {
	var d struct {
		events.ToolPreData
		CWD string `json:"cwd"` // the agent's working directory, where the agent tells it
	}
	if err := ev.Decode(&d); err != nil {
		return nil, err
	}
	var input struct {
		FilePath     *string `json:"file_path"`
		NotebookPath *string `json:"notebook_path"`
		Path         *string `json:"path"`
	}
	if err := d.DecodeInput(&input); err != nil {
		return nil, fmt.Errorf("read paths: %w", err)
	}
	var files []string
	for _, p := range []*string{input.FilePath, input.NotebookPath, input.Path} {
		if p != nil && *p != "" {
			files = append(files, Clean(*p, d.CWD))
		}
	}
	return files, nil
}

// Clean returns p with forward slashes and without "." and "..", relative to
// nothing where cwd, the directory it is relative to, is known. Where it is not,
// and p climbs out of it, p is taken to climb to the root: the worst it can do.
func Clean(p, cwd string) string {
	p, cwd = slashes(p), slashes(cwd)
	if rest, ok := strings.CutPrefix(p, "~root"); ok && (rest == "" || rest[0] == '/') {
		p = "/root" + rest
	}
	if !path.IsAbs(p) && !strings.HasPrefix(p, "~") && path.IsAbs(cwd) {
		p = cwd + "/" + p
	}
	p = path.Clean(p)
	if p != ".." && !strings.HasPrefix(p, "../") {
		return p
	}
	for p == ".." || strings.HasPrefix(p, "../") {
		p = strings.TrimPrefix(strings.TrimPrefix(p, ".."), "/")
	}
	return "/" + p
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }
