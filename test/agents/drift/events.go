package drift

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/test/agents"
)

// eventLists matches the list of hook events in the program of an agent, by the agent's name.
var eventLists = map[string]*regexp.Regexp{
	"claude-code": regexp.MustCompile(`\["PreToolUse","PostToolUse"(?:,"\w+"){8,}\]`),
}

// reviewed lists the events without a row in hook-agent's table: nothing happens at them that needs
// a gate of its own.
var reviewed = map[string][]string{
	"claude-code": {
		"PostToolBatch", "UserPromptExpansion", "PreModelSwitch", "PostModelSwitch", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted",
		"Elicitation", "ElicitationResult", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged",
		"DirectoryAdded", "MessageDisplay",
	},
}

// unreviewed returns the hook events that an agent's program has, and that are neither in
// hook-agent's table nor reviewed. found is false if its list of events is not in the program.
func unreviewed(a agents.Agent, installed string) (events []string, found bool, err error) {
	program, err := os.ReadFile(filepath.Join(installed, a.Program[0]))
	if err != nil {
		return nil, false, err
	}
	list := eventLists[a.Name].Find(program)
	if list == nil {
		return nil, false, nil
	}
	if err := json.Unmarshal(list, &events); err != nil {
		return nil, true, err
	}
	d, _ := agenthook.Find(a.Name)
	return slices.DeleteFunc(events, func(event string) bool {
		_, known := d.Event(event)
		return known || slices.Contains(reviewed[a.Name], event)
	}), true, nil
}
