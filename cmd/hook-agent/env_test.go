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
