package pathguard

import (
	"encoding/json"
	"slices"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// patchers are commands that agents have for their own form of patches.
var patchers = []string{"apply_patch", "applypatch"}

// patch is what a patch changes, which is an argument or a here-document: it names files as
// that of the tool apply_patch does.
func (s *collector) patch(c shell.Command) {
	s.patchTexts(c, slices.Clone(c.Args()))
}

// patchTexts are texts of patches, and those that a command reads.
func (s *collector) patchTexts(c shell.Command, texts []shell.Word) {
	for _, r := range c.Redirects {
		if r.Here.Text != "" {
			texts = append(texts, r.Here)
		}
	}
	known := len(texts) > 0
	for _, w := range texts {
		data, err := json.Marshal(map[string]string{"tool_name": "apply_patch", "tool_input": w.Text})
		tool, _ := events.ToolOf(events.ToolPre, data)
		known = known && w.Known && err == nil && !tool.Partial && len(tool.Paths) > 0
		for _, file := range tool.Paths {
			below := tool.Operation == events.OperationDelete || tool.Operation == events.OperationMove
			s.all = append(s.all, s.found(file, access{reads: true, writes: true, below: below})...)
		}
	}
	if !known {
		s.unclear = append(s.unclear, "which files "+c.Name()+" changes can't be known")
	}
}

// readsPatch reports whether a command applies a patch that stands in the line.
func readsPatch(c shell.Command) bool {
	return (c.Name() == "patch" || c.Name() == "git" && (c.Verb() == "apply" || c.Verb() == "am")) &&
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return r.Here.Text != "" })
}
