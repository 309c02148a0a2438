package pathguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestAccountsByTheirForm checks that unlisted credential files of programs are recognized by name,
// and that code and documents with such names may be read.
func TestAccountsByTheirForm(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]chain.Action{
		"~/.consul-token":                                chain.Deny,
		"~/.near-credentials/main.json":                  chain.Deny,
		"~/.foundry/keystores/deployer":                  chain.Deny,
		"~/.config/tool/api_key":                         chain.Deny,
		"~/.cache/huggingface/stored_tokens":             chain.Deny,
		"~/.local/share/kwalletd/kdewallet.kwl":          chain.Deny,
		"~/.config/openstack/clouds.yaml":                chain.Deny,
		"~/.svn/auth/svn.simple/x":                       chain.Deny,
		"~/Library/Application Support/Tool/tokens.json": chain.Deny,
		"/repo/client_secret_1.json":                     chain.Deny,
		"~/.claude/skills/auth/SKILL.md":                 "",
		"~/.cargo/registry/src/x/token.rs":               "",
		"~/.config/nvim/lua/keys.lua":                    "",
		"~/.config/Code/User/keybindings.json":           "",
		"~/.nvm/versions/node/v20/lib/tokens.json":       "",
		"/repo/src/auth/token.json":                      "",
		"/repo/pkg/kubeconfig/kubeconfig.go":             "",
		// Public keys may be read but not replaced.
		"~/.ssh/id_rsa.pub": "",
		"~/.ssh/id_rsa":     chain.Deny,
	} {
		if got := judge(t, pathguard.Options{}, call("Read", "file_path", file)); got.Action != want {
			t.Errorf("%s: %q (%s), want %q", file, got.Action, got.Reason, want)
		}
	}
	if got := judge(t, pathguard.Options{}, call("Write", "file_path", "~/.ssh/id_rsa.pub")); got.Action != chain.Deny {
		t.Errorf("a public key is replaced: %q", got.Action)
	}
}

// TestNamesAreTold checks that a find may search anywhere if it only prints names that suggest no
// secret.
func TestNamesAreTold(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		`find / -name "libfoo.so*" 2>/dev/null | head`:             "",
		"find ~ -maxdepth 3 -name package.json":                    "",
		`find / -name '*.pem'`:                                     chain.AskUser,
		`find / -name 'id_rsa*'`:                                   chain.AskUser,
		"find ~ -name '.*'":                                        chain.AskUser,
		"find ~ -type f":                                           chain.AskUser,
		"find ~ -name 'c*.json' -exec cat {} +":                    chain.AskUser,
		"find ~ -name 'c*.json' | xargs cat":                       chain.AskUser,
		"find ~ -name 'c*.json' | tar cf x.tar -T -":               chain.AskUser,
		"find ~ -name 'c*.json' | sort --files0-from=-":            chain.AskUser,
		`find ~ -name 'c*.json' | while read f; do cat "$f"; done`: chain.AskUser,
	} {
		if got := judge(t, pathguard.Options{}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}

// TestRewritersOutside checks that formatters, converters and removers write their operands.
func TestRewritersOutside(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"npx rimraf ~/Documents":                             chain.AskUser,
		"npx rimraf dist":                                    "",
		"npx prettier --write ../other/src":                  chain.AskUser,
		"npx prettier --write --config ../.prettierrc src":   "",
		"npx prettier --check ../other":                      "",
		"black ../other":                                     chain.AskUser,
		"black --check ../other":                             "",
		"ruff format ~/other":                                chain.AskUser,
		"ruff check ../other":                                "",
		"gofmt -w ../other":                                  chain.AskUser,
		"gofmt -l ../other":                                  "",
		"clang-format -i ../x.c":                             chain.AskUser,
		"terraform fmt ../":                                  chain.AskUser,
		"terraform plan -out=~/x":                            chain.AskUser,
		"pandoc README.md -o ../x.html":                      chain.AskUser,
		"ffmpeg -y -i a.mp4 ~/Videos/a.mp4":                  chain.AskUser,
		"ffmpeg -i ~/Videos/a.mp4 -vf scale=640:-1 out.mp4":  "",
		"magick mogrify -resize 10x10 ~/Pictures/a.jpg":      chain.AskUser,
		"openssl req -newkey rsa:2048 -out ../k.csr -subj /": chain.AskUser,
	} {
		if got := judge(t, pathguard.Options{Outside: decision.Ask}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}
