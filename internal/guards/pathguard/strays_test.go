package pathguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestDirectoriesOfAnyName checks that a * for any directory does not count as a specific
// directory, unless the rest of the path suggests it.
func TestDirectoriesOfAnyName(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"grep -rn x packages/*/src":             "",
		"cp -r public/* dist/assets/":           "",
		"rm -rf packages/*/dist":                "",
		"rm -rf **/__pycache__":                 "",
		"cat **/.env":                           chain.Deny,
		"cat */.env":                            chain.Deny,
		"cat */jetstream/a":                     chain.Deny,
		"cp x .git/*/":                          chain.AskUser,
		"cp x data/*/a":                         chain.AskUser,
		"rm -rf */auth":                         chain.AskUser,
		"git log -p -- '*.env'":                 chain.Deny,
		"git show HEAD -- ':(glob)**/.env'":     chain.Deny,
		"git diff -- '*.json'":                  "",
		"git ls-files '*.env'":                  "",
		"git log -p -- '*.go'":                  "",
		"cat secrets/db.txt":                    chain.Deny,
		"cat k8s/secrets/db.yaml":               chain.Deny,
		"cat run/secrets/db_password":           chain.Deny,
		"cat internal/secrets/store.go":         "",
		"grep -n x internal/secrets/*.go":       "",
		"find . -name package.json | xargs cat": "",
		"find . -name package.json":             "",
		`find db -type f -name '*.sql' | sort | while read -r f; do cat "$f"; done`: "",
		`find . -name '.env*' | while read -r f; do cat "$f"; done`:                 chain.AskUser,
		`find . -name .env | while IFS= read -r f; do cat "$f"; done`:               chain.Deny,
		`find db -name '*.sql' | while read -r f; do f=/x; cat "$f"; done`:          chain.AskUser,
	} {
		o := pathguard.Options{DenyWrite: []string{"**/data/{auth,jetstream}/**"}}
		if got := judge(t, o, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}
