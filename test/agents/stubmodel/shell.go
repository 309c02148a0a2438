package stubmodel

import (
	"encoding/json"
	"slices"
	"strings"
)

// shells are the names of the agents' shell tools, and their arguments.
var shells = []struct {
	name string
	args func(command string) object
}{
	{"exec_command", func(c string) object { return object{"cmd": c} }},      // Codex
	{"shell_command", func(c string) object { return object{"command": c} }}, // Codex
	{"run_shell_command", func(c string) object { // Gemini CLI, Qwen Code
		return object{"command": c, "description": "a test", "is_background": false}
	}},
	{"Bash", described}, // Claude Code
	{"bash", described}, // Copilot CLI, OpenCode
	{"shell", func(c string) object { return object{"command": c} }},            // Goose
	{"developer__shell", func(c string) object { return object{"command": c} }}, // Goose
}

// calling starts a command that is the call of another tool than the shell.
const calling = "\x00call "

// Call returns a command that makes the agent call a tool. input is a JSON object. For a tool of a
// namespace of OpenAI Responses, tool is NAMESPACE/NAME.
func Call(tool, input string) string { return calling + tool + " " + input }

func described(command string) object {
	return object{"command": command, "description": "a test"}
}

// call returns the call that [Call] made, or a call of the first shell among the tools. tool is empty
// if there is no shell or no command.
func call(api string, tools []string, command string) (tool, args string) {
	if command == "" {
		return "", ""
	}
	if other, ok := strings.CutPrefix(command, calling); ok {
		tool, args, _ = strings.Cut(other, " ")
		return tool, args
	}
	for _, s := range shells {
		if !slices.Contains(tools, s.name) {
			continue
		}
		o := s.args(command)
		if api == "responses" && s.name == "shell" { // older versions of Codex
			o = object{"command": []string{"sh", "-c", command}}
		}
		b, _ := json.Marshal(o)
		return s.name, string(b)
	}
	return "", ""
}
