package agents

import (
	"fmt"
	"slices"
	"strings"
)

// Agent describes how to install, configure and start a coding agent.
type Agent struct {
	Name string // as in hook-agent
	// Version is the tested version; others may behave differently.
	Version string
	// Package is the name of its npm package.
	Package string
	// Install are the packages to install, with VERSION as a placeholder. Platform packages are named
	// explicitly if they exist: otherwise npm may install an older version.
	Install []string
	// Program is the command line of the installed agent. Words that start with node_modules/ are
	// files of the installation.
	Program []string
	// Args returns the arguments that follow Program.
	Args func(r Run) []string
	// Env returns its environment, in addition to HOME, PATH and the like.
	Env func(r Run) []string
	// Files returns the files that it needs below its home, in addition to those of `hookctl connect`.
	Files func(r Run) map[string]string
	// Cannot has the reason why the agent does not support a case, by case. The case then checks only
	// that nothing passes that must not.
	Cannot map[string]string
}

// Run is one run of an agent.
type Run struct {
	Home, Dir, Temp string // separate directories for each run
	Model           string // URL of the model, http://HOST:PORT
	Prompt          string
}

// Names of the cases that not every agent supports.
const (
	CaseInject = "pass with injection"
	CaseModify = "modify"
	CaseRedact = "redact the result"
)

// Select returns the agents in a comma-separated list, or all agents for "all".
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
