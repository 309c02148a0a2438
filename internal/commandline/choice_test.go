package commandline_test

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/commandline"
)

// A choice that is none is answered with those that there are, and with the one that was meant.
func TestAWrongChoiceNamesTheRightOnes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--require pined":   `--require must be one of any, pinned, witnessed, not "pined": did you mean "pinned"? (see program --help)`,
		"--require nothing": `--require must be one of any, pinned, witnessed, not "nothing" (see program --help)`,
		"--polcy x":         `unknown flag --polcy`,
	} {
		var flags struct {
			Require string `enum:",any,pinned,witnessed" default:""`
		}
		_, err := commandline.Parse(&flags, strings.Fields(args), kong.Name("program"), kong.Writers(io.Discard, io.Discard))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %s", args, err, want)
		}
	}
}
