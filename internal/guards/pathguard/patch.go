package pathguard

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// patchers are commands that apply patches in the format of agents.
var patchers = []string{"apply_patch", "applypatch"}

// patches finds the files that patches change: those in texts and in the here-documents of a
// command. The patches name files like those of the tool apply_patch.
func (s *collector) patches(c shell.Command, texts []shell.Word) {
	for _, r := range c.Redirects {
		if r.Here.Text != "" {
			texts = append(texts, r.Here)
		}
	}
	dirs, certain := patchDirs(c)
	known := len(texts) > 0 && certain
	for _, w := range texts {
		data, err := json.Marshal(map[string]string{"tool_name": "apply_patch", "tool_input": w.Text})
		tool, _ := events.ToolOf(events.ToolPre, data)
		known = known && w.Known && err == nil && !tool.Partial && len(tool.Paths) > 0
		for _, file := range tool.Paths {
			below := tool.Operation == events.OperationDelete || tool.Operation == events.OperationMove
			for _, dir := range dirs {
				s.all = append(s.all, s.found(dir+file, access{reads: true, writes: true, below: below})...)
			}
		}
	}
	if !known {
		s.unclear = append(s.unclear, "which files "+c.Name()+" changes can't be known")
	}
}

// patchDirs returns the directories to which the names in a patch are relative, with a trailing
// slash: that of the command, and those of -d and --directory. certain is false if one is unknown.
func patchDirs(c shell.Command) (dirs []string, certain bool) {
	dirs, certain = []string{""}, true
	options := shell.Options{Long: "--di= --dir= --dire= --direc= --direct= --directo= --director= --directory="}
	if c.Name() == "patch" {
		options.Values = "d"
	}
	for a := range options.In(c.Args()) {
		switch {
		case a.Takes && a.Value.Text != "":
			dirs, certain = append(dirs, a.Value.Text+"/"), certain && a.Value.Known
		case c.Name() == "patch" && a.Name != "" && !strings.HasPrefix(a.Name, "--") && strings.Contains(a.Text, "d"): // combined with other letters
			return dirs, false
		}
	}
	return dirs, certain
}

// readsPatch reports whether a command applies a patch that is in the line.
func readsPatch(c shell.Command) bool {
	return (c.Name() == "patch" || c.Name() == "git" && (c.Verb() == "apply" || c.Verb() == "am")) &&
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return r.Here.Text != "" })
}
