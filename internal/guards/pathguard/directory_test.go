package pathguard_test

import (
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// A persistent shell keeps its directory, and agents do not report that with later calls.
func TestAShellThatLivesOnLeaves(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"cd ~":                   chain.AskUser,
		"cd /etc":                chain.AskUser,
		"cd sub && cd ../..":     chain.AskUser,
		"cd \"$X\"":              chain.AskUser,
		"pushd /home/ann":        chain.AskUser,
		"cd -":                   chain.AskUser,
		"cd sub && npm test":     "",
		"cd /repo && git status": "",
		"ls /usr/lib":            "",
	} {
		for name, input := range map[string]map[string]any{
			"bash":            {"command": line, "sessionId": "s"},
			"Bash":            {"command": line, "shell_id": 1},
			"run_in_terminal": {"command": line},
			"shell":           {"command": line}, // each call has its own shell
		} {
			data, err := json.Marshal(map[string]any{"tool_name": name, "tool_input": input, "cwd": "/repo"})
			if err != nil {
				t.Fatal(err)
			}
			expected := want
			if name == "shell" {
				expected = ""
			}
			if got := judge(t, pathguard.Options{}, string(data)); got.Action != expected {
				t.Errorf("%s %s: %q %s; want %q", name, line, got.Action, got.Reason, expected)
			}
		}
	}
}

// A directory that the tool ignores does not hide where a line runs.
func TestADirectoryThatTheToolIgnores(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]chain.Action{
		`{"tool_name":"run_shell_command","tool_input":{"command":"echo x >> ../home/ann/.bashrc","cwd":"/repo/x/y"},"cwd":"/repo"}`: chain.AskUser,
		`{"tool_name":"exec_command","tool_input":{"cmd":"cat ../etc/shadow","cwd":"/repo/x/y"},"cwd":"/repo"}`:                      chain.AskUser,
		`{"tool_name":"exec_command","tool_input":{"cmd":"cat ../x > ../y","workdir":"/repo/x/y"},"cwd":"/repo"}`:                    "",
		`{"tool_name":"exec_command","tool_input":{"cmd":"cat .env","workdir":"/repo/x/y"},"cwd":"/repo"}`:                           chain.Deny,
	} {
		if got := judge(t, pathguard.Options{}, data); got.Action != want {
			t.Errorf("%s: %q %s; want %q", data, got.Action, got.Reason, want)
		}
	}
}
