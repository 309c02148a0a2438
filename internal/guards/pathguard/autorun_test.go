package pathguard_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestWhatRunsByItselfIsNotWritten checks files that a commit, an editor or a container would run
// without a hook.
func TestWhatRunsByItselfIsNotWritten(t *testing.T) {
	t.Parallel()
	for path := range strings.FieldsSeq(".git/hooks/pre-commit .husky/pre-commit .githooks/pre-commit .git-hooks/pre-push .lefthook/pre-commit/x.sh lefthook.yml .lefthook.toml lefthook-local.yml .config/lefthook.yml" +
		" .pre-commit-config.yaml .overcommit.yml .hg/hgrc .jj/repo/config.toml .jj/workspace-config.toml .idea/workspace.xml .idea/watcherTasks.xml .vscode/tasks.json" +
		" .devcontainer/devcontainer.json .devcontainer/go/devcontainer.json .devcontainer.json .yarn/releases/yarn-4.1.0.cjs .yarn/plugins/x.cjs .yarnrc.yml .yarnrc app/.husky/pre-commit") {
		for _, data := range []string{call("Write", "file_path", path), call("Bash", "command", "echo x > "+path), call("Bash", "command", "cp x "+path)} {
			if got := judge(t, pathguard.Options{}, data); got.Action != chain.Deny {
				t.Errorf("%s: %q (%s), want deny", data, got.Action, got.Reason)
			}
		}
		for _, data := range []string{call("Read", "file_path", path), call("Bash", "command", "git add "+path)} {
			if got := judge(t, pathguard.Options{}, data); got.Action != "" {
				t.Errorf("%s: %q (%s), want nothing", data, got.Action, got.Reason)
			}
		}
	}
	for line, want := range map[string]chain.Action{
		"mv x .devcontainer":                            chain.AskUser,
		"cp -r x .githooks":                             chain.Deny,
		"echo x > docs/lefthook.md":                     "",
		"echo x > .devcontainer/Dockerfile":             "",
		"docker build -f .devcontainer/Dockerfile .":    "",
		"git rm --cached -r .idea":                      "",
		"rm -rf .yarn/cache":                            "",
		"sed -i s/a/b/ config/*.yml drivers/*.[ch]":     "",
		"chmod 644 config/*.yml && pre-commit run -a":   "",
		"for f in tests/*.toml; do ./validate $f; done": "",
	} {
		if got := judge(t, pathguard.Options{}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}

// TestNewKeys checks that openssl may create a new key in the project, which nobody uses yet, and
// that other keys must not be touched.
func TestNewKeys(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"openssl req -x509 -newkey rsa:2048 -keyout key.pem -out cert.pem -days 9 -nodes -subj /CN=x": "",
		"openssl genrsa -out certs/server.key 2048":                                                   "",
		"openssl genrsa -out key.pem 2048 && cat key.pem":                                             chain.Deny,
		"openssl genrsa -out key.pem 2048; echo x > key.pem":                                          chain.Deny,
		"openssl genrsa -out key.pem 2048; openssl pkcs12 -out key.pem":                               chain.Deny,
		"openssl rsa -in key.pem -out a.pem":                                                          chain.Deny,
		"openssl req -new -key key.pem -out a.csr":                                                    chain.Deny,
		"openssl genrsa -out .env 2048":                                                               chain.Deny,
		"openssl genrsa -out audit.key 2048":                                                          chain.Deny,
		"openssl genrsa -out .ssh/server.key 2048":                                                    chain.Deny,
		"openssl genrsa -out ~/.ssh/key.pem 2048":                                                     chain.Deny,
		"openssl genrsa -out ../key.pem 2048":                                                         chain.Deny,
	} {
		if got := judge(t, pathguard.Options{Outside: decision.Ask}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}

// TestConfigure checks that configure does not write to the directories of make install.
func TestConfigure(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"./configure --prefix=/usr/local --sysconfdir=/etc && make": "",
		"./configure --cache-file=/etc/x":                           chain.AskUser,
		"./configure /usr/local":                                    chain.AskUser,
		"./tool --prefix=/usr/local":                                chain.AskUser,
	} {
		if got := judge(t, pathguard.Options{}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}
