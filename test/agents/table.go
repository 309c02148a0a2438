package agents

// All are the agents, in the order in which they are run.
func All() []Agent {
	return []Agent{claudeCode()}
}

// claudeCode speaks Anthropic Messages.
func claudeCode() Agent {
	return Agent{
		Name: "claude-code", Version: "2.1.330", Package: "@anthropic-ai/claude-code",
		Install: []string{"@anthropic-ai/claude-code-linux-x64@VERSION"},
		Program: []string{"node_modules/@anthropic-ai/claude-code-linux-x64/claude"},
		Args:    func(r Run) []string { return []string{"-p", r.Prompt, "--allowedTools", "Bash"} },
		Env: func(r Run) []string {
			return []string{"ANTHROPIC_BASE_URL=" + r.Model, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	}
}
