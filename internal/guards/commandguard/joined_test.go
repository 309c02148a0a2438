package commandguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestJoinedOptions checks that an option is recognized among other combined letters.
func TestJoinedOptions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"env -iC / rm -rf etc":                            chain.Deny,
		"sudo -nD / rm -rf etc":                           chain.Deny,
		"conda install -yc conda-forge numpy":             "",
		"conda install -yc someones numpy":                chain.AskUser,
		"sed -nf own.sed a.txt":                           "",
		"printf '1e id' > own.sed; sed -nf own.sed a.txt": chain.AskUser,
	} {
		got := judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
		if got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}

// TestHiddenOptions checks that a word after an option that may take a value is still recognized as
// an option.
func TestHiddenOptions(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"docker run -e --network --net host alpine", "docker -l -c --context prod ps", "kubectl -n --context=kind-a --context prod apply -f x.yaml", "gh api -X GET -q -f -X DELETE repos/a/b",
		"java -cp -cp /tmp/x Main", "npx -w -p some-pkg tsc", "npx --from -p some-pkg tsc", "npx -w -w a github:b/c", "conda install -n -c -c someones numpy",
	} {
		got := judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
		if got.Action != chain.AskUser {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, chain.AskUser)
		}
	}
}
