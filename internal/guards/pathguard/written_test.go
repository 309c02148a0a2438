package pathguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestWhatOptionsWrite checks the options that name output files, and the copying tools of cmake.
func TestWhatOptionsWrite(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"cmake -E copy x .git/hooks/pre-commit":                     chain.Deny,
		"cmake -E copy_directory x .git/hooks":                      chain.Deny,
		"cmake -E touch ~/.zshrc":                                   chain.Deny,
		"cmake -E copy x ../other/y":                                chain.AskUser,
		"cmake -E create_symlink ~/.ssh keys":                       chain.Deny,
		"cmake -E copy a build/b":                                   "",
		"cmake -E make_directory build":                             "",
		"gcc -M -MF ~/.bashrc x.c":                                  chain.Deny,
		"gcc -M -MF.git/hooks/pre-commit x.c":                       chain.Deny,
		"gcc -Wp,-MD,.git/hooks/pre-commit x.c":                     chain.Deny,
		"gcc -fdump-tree-all=/home/ann/.bashrc x.c":                 chain.Deny,
		"clang -aux-info ~/.bashrc x.c":                             chain.Deny,
		"gcc -I/usr/include -L/usr/lib -MMD -MF build/x.d -c x.c":   "",
		"gcc -MD -save-temps=obj -fprofile-generate -o build/x x.c": "",
		"gawk -d/home/ann/.bashrc 'BEGIN{}'":                        chain.Deny,
		"awk -o../x.awk 'BEGIN{}'":                                  chain.AskUser,
		"cloc --out=../report.txt .":                                chain.AskUser,
		"openapi-generator generate -o ../x -i a.yaml":              chain.AskUser,
		"openapi-generator generate -o x -i a.yaml":                 "",
		"rsync --log-file=/home/ann/x a b":                          chain.AskUser,
		"frobnicate --html-report /home/ann/x .":                    chain.AskUser,
		"frobnicate --html-report out/x --log-file=/tmp/x .":        "",
		"jq -n 'import \"/home/ann/.docker/config\" as $d; $d'":     chain.Deny,
		"jq -n 'import \"./lib/names\" as $d; $d'":                  "",
		"cat /proc/1234/fd/3":                                       chain.Deny,
		"cat /proc/self/fd/3":                                       "",
	} {
		if got := judge(t, pathguard.Options{Outside: decision.Ask}, call("Bash", "command", line)); got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}
