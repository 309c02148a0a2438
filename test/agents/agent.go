package agents

import (
	"fmt"
	"slices"
	"strings"
)

// Agent is a coding agent: how it is installed, configured and started.
type Agent struct {
	Name string // as hook-agent calls it
	// Version is the one that is tested; others may behave differently.
	Version string
	// Package is what npm calls it.
	Package string
	// Install are the packages to install, with VERSION for the version. They are those of
	// the platform where there are some: npm may take an older version otherwise.
	Install []string
	// Program is the command line of the installed agent; what begins with node_modules/
	// is a file of the installation.
	Program []string
	// Args follow the program.
	Args func(r Run) []string
	// Env is its environment beside HOME, PATH and the like.
	Env func(r Run) []string
	// Files are what it needs below its home beside what `hookctl connect` writes.
	Files func(r Run) map[string]string
	// Cannot says, by case, why an agent does not do what other agents do. The case checks
	// then that nothing passes that should not.
	Cannot map[string]string
}

// Run is one run of an agent.
type Run struct {
	Home, Dir, Temp string // directories of its own
	Model           string // the address of the model, http://HOST:PORT
	Prompt          string
}

// Names of the cases that not every agent honors.
const (
	CaseInject = "pass with injection"
	CaseModify = "modify"
	CaseRedact = "redact the result"
)

// Select returns the agents that a comma-separated list names, or all of them.
func Select(list string) ([]Agent, error) {
	if list == "all" {
		return All(), nil
	}
	var chosen []Agent
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(All(), func(a Agent) bool { return a.Name == name })
		if i < 0 {
			var names []string
			for _, a := range All() {
				names = append(names, a.Name)
			}
			return nil, fmt.Errorf("AGENTS: there is no agent %q: use all, or some of %s", name, strings.Join(names, ","))
		}
		chosen = append(chosen, All()[i])
	}
	return chosen, nil
}
