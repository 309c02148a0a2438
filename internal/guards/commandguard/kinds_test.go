package commandguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestWholeKinds checks that removing all files of a kind counts as removing the project, unless
// they are generated.
func TestWholeKinds(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"find . -name '*.go' -delete":                 chain.AskUser,
		"find . -mtime +30 -delete":                   chain.AskUser,
		"find . -name '*.go' -exec rm {} +":           chain.AskUser,
		"find . -name '*.go' | xargs rm":              chain.AskUser,
		"rm -f **/*.go":                               chain.AskUser,
		"find . -regex '.*\\.\\(ts\\|tsx\\)' -delete": chain.AskUser,
		"find . -regex '.*/build/.*' -delete":         "",
		"find . -name '*.pyc' -delete":                "",
		"find . -name '*.pb.go' -exec rm {} +":        "",
		"find . -name old_test.go -delete":            "",
		"find . -name '*.go' | xargs wc -l":           "",
		"find . -name '*.log' -size 0 -delete":        "",
	} {
		got := judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
		if got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}

// TestNumbersOfProcesses checks that ps accepts process IDs only from commands that print nothing
// else.
func TestNumbersOfProcesses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]chain.Action{
		"ps -p $(pgrep -f vite) -o args":                "",
		"ps -fp $(lsof -ti :3000)":                      "",
		"ps -o pid= -C vite":                            "",
		"ps -o etime eww":                               chain.AskUser,
		"kill $(ps -e -o pid=)":                         chain.AskUser,
		"kill $(ps aux | grep vite | awk '{print $2}')": "",
		"ps $(pgrep -l vite)":                           chain.AskUser,
		"ps $(pgrep vite; echo eww)":                    chain.AskUser,
	} {
		got := judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
		if got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}
