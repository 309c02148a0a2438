package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestNATSURLSaysWhereTheRouterIs(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("NATS_URL", "nats://127.0.0.1:2")
	const event = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/tmp"}`
	for where, flags := range map[string][]string{"127.0.0.1:2": nil, "127.0.0.1:3": {"-server", "nats://127.0.0.1:3"}} { // a flag goes first
		var out, notes bytes.Buffer
		args := append([]string{"hook-agent", "-patience", "10ms", "-supervise=false"}, append(flags, "claude-code")...)
		run(t.Context(), args, nil, strings.NewReader(event), &out, &notes)
		if said := out.String() + notes.String(); !strings.Contains(said, where) || !strings.Contains(said, "no policy could be asked") {
			t.Errorf("%v: %s; want that nobody answers at %s", flags, said, where)
		}
	}
}

// TestOptionsBehindTheAgent: options count wherever they stand.
func TestOptionsBehindTheAgent(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const event = `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/tmp"}`
	for args, want := range map[string]string{
		"claude-code -server=nats://127.0.0.1:4 PreToolUse -patience 10ms":                       `"permissionDecision":"deny"`,
		"claude-code PreToolUse -server=nats://127.0.0.1:4 -patience 10ms -on-unreachable=allow": "let pass without a verdict",
		"claude-code PreToolUse -no-such-option":                                                 "flag provided but not defined",
		"claude-code PreToolUse -scope=machine":                                                  "--scope is user, project or managed",
		"claude-code PreToolUse Stop":                                                            "name the agent",
	} {
		var out, notes bytes.Buffer
		run(t.Context(), append([]string{"hook-agent", "-supervise=false"}, strings.Fields(args)...), nil, strings.NewReader(event), &out, &notes)
		if said := out.String() + notes.String(); !strings.Contains(said, want) {
			t.Errorf("%s: %s; want %s", args, said, want)
		}
	}
}
