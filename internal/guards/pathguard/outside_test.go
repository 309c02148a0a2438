package pathguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestOutside checks that the agent works in /repo, whatever its call says.
func TestOutside(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]chain.Action{
		call("Write", "file_path", "a.go"):                                                             "",
		call("Write", "file_path", "/repo/a.go"):                                                       "",
		call("Write", "file_path", "/tmp/a"):                                                           "",
		call("Read", "file_path", "/elsewhere/a"):                                                      "",
		call("Write", "file_path", "/elsewhere/a"):                                                     chain.AskUser,
		call("Write", "file_path", "/repository/a"):                                                    chain.AskUser,
		call("Write", "file_path", "../a"):                                                             chain.AskUser,
		call("Bash", "command", "rm -rf build"):                                                        "",
		call("Bash", "command", "rm -rf ../other"):                                                     chain.AskUser,
		call("Bash", "command", "rm -rf ~/work"):                                                       chain.AskUser,
		call("Bash", "command", "cd /tmp && rm -rf x"):                                                 "",
		call("Bash", "command", "cd /srv && rm -rf x"):                                                 chain.AskUser,
		call("Bash", "command", "vite build --outDir /srv/x --emptyOutDir"):                            chain.AskUser,
		call("Bash", "command", "cargo build --target-dir=/srv/x"):                                     chain.AskUser,
		call("Bash", "command", "hugo -d /srv/x"):                                                      chain.AskUser,
		call("Bash", "command", "mkdocs build -d /srv/x"):                                              chain.AskUser,
		call("Bash", "command", "hugo --minify -d public"):                                             "",
		call("Bash", "command", "vite build --outDir dist"):                                            "",
		call("Bash", "command", "cargo build --target x86_64-unknown-linux-gnu"):                       "",
		call("Bash", "command", "go test -trace=/srv/x ./..."):                                         chain.AskUser,
		call("Bash", "command", "make > /dev/null"):                                                    "",
		call("Bash", "command", "make > /srv/log"):                                                     chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf x","workdir":"/srv"},"cwd":"/repo"}`:      chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf /srv/x"}}`:                                chain.AskUser,
		`{"tool_name":"Write","tool_input":{"file_path":"/srv/x"}}`:                                    "",
		`{"tool_name":"Bash","tool_input":{"command":"rm ~/repo/x"},"cwd":"/home/ann/repo"}`:           "",
		`{"tool_name":"Bash","tool_input":{"command":"rm /home/bob/repo/x"},"cwd":"/home/ann/repo"}`:   chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"rm x"},"cwd":"/home/ann/repo"}`:                  "",
		`{"tool_name":"apply_patch","tool_input":"*** Begin Patch\n*** Add File: ../x","cwd":"/repo"}`: chain.AskUser,
		`{"tool_name":"Write","tool_input":{"file_path":"~/../../.bashrc"},"cwd":"/home/ann/a"}`:       chain.Deny,
		`{"tool_name":"Write","tool_input":{"file_path":"file:/../../.bashrc"},"cwd":"/home/ann/a"}`:   chain.Deny,
		`{"tool_name":"Write","tool_input":{"file_path":"~/repo/a"},"cwd":"/home/ann/repo"}`:           "",
	} {
		if got := judge(t, pathguard.Options{Outside: decision.Ask}, data); got.Action != want {
			t.Errorf("%s: %q (%s); want %q", data, got.Action, got.Reason, want)
		}
	}
}

// TestKeysOfTheRouter checks that an agent can't read the router's keys or change its store.
func TestKeysOfTheRouter(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]chain.Action{
		call("Read", "file_path", "data/audit.key"):                chain.Deny,
		call("Read", "file_path", "data/audit.key.pub"):            "",
		call("Read", "file_path", "agent.creds"):                   chain.Deny,
		call("Read", "file_path", "~/.config/nats/context/x.json"): chain.Deny,
		call("Bash", "command", "rm -rf data/jetstream"):           chain.Deny,
		call("Bash", "command", "rm -rf data"):                     "",
		call("Bash", "command", "cat *.tfstate"):                   chain.Deny,
		call("Bash", "command", "cat *.json"):                      "",
		call("Bash", "command", "git show HEAD:.env"):              chain.Deny,
		call("Bash", "command", "rm -rf dist/*"):                   "",
	} {
		if got := judge(t, pathguard.Options{}, data); got.Action != want {
			t.Errorf("%s: %q (%s); want %q", data, got.Action, got.Reason, want)
		}
	}
}
