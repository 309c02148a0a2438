package pathguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestPours checks that files with unknown names can't replace those of the project without
// approval.
func TestPours(t *testing.T) {
	t.Parallel()
	patch := func(file string) string { return "--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-a\n+b\n" }
	for line, want := range map[string]chain.Action{
		"cp -r templates/. dist":             "",
		"cp -r evil/. .":                     chain.AskUser,
		"cp -rT evil /repo":                  chain.AskUser,
		"rsync -a /tmp/evil/ ./":             chain.AskUser,
		"rsync -a --exclude x src/ /tmp/src": "",
		"tar xzf fixtures.tgz -C tests":      "",
		"tar xzf a.tgz":                      "",
		"tar xf a.tar -C .":                  chain.AskUser,
		"tar xzf /tmp/a.tgz":                 chain.AskUser,
		"tar xzf a.tgz --strip-components=1": chain.AskUser,
		"unzip -o a.zip":                     chain.AskUser,
		"unzip -o a.zip -d public":           "",
		"unzip -l a.zip":                     "",

		"git apply <<'E'\n" + patch("src/a.go") + "E":                          "",
		"git apply <<'E'\n" + patch(".claude/settings.json") + "E":             chain.Deny,
		"cat > p <<'E'\n" + patch(".claude/settings.json") + "E\ngit apply p":  chain.Deny,
		"patch -p1 <<'E'\n" + patch(".github/hooks/x.json") + "E":              chain.Deny,
		"patch -d .claude -p0 <<'E'\n" + patch("settings.json") + "E":          chain.Deny,
		"patch -d.claude -p1 <<'E'\n" + patch("settings.json") + "E":           chain.Deny,
		"patch --dir .claude <<'E'\n" + patch("settings.json") + "E":           chain.Deny,
		"patch -p1d .claude <<'E'\n" + patch("settings.json") + "E":            chain.AskUser,
		"patch -d src -p1 --dry-run <<'E'\n" + patch("a.go") + "E":             "",
		"git apply --directory=.claude <<'E'\n" + patch("settings.json") + "E": chain.Deny,
		"git apply --directory=src <<'E'\n" + patch("a.go") + "E":              "",
		"git apply <<'E'\n+++ \"b/\\056envrc\"\nE":                             chain.Deny,
		"git apply <<'E'\n+++ \"b/\\x\"\nE":                                    chain.AskUser,
		"git apply --directory=.claude a.patch":                                chain.AskUser,
		"find . -name '*.key' -o -name '*.pem' | xargs cat":                    chain.AskUser,
		"find . -name '*.pyc' -o -name __pycache__ | xargs rm -rf":             "",
	} {
		if got := judge(t, pathguard.Options{Outside: decision.Ask}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%s: %q (%s); want %q", line, got.Action, got.Reason, want)
		}
	}
}
