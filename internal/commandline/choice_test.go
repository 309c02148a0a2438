package commandline_test

import (
	"io"
	"log/slog"
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
		"--require ynk":     `--require must be one of any, pinned, witnessed, not "ynk" (see program --help)`,
		"--level loud":      `--level must be one of debug, info, warn, error, not "loud" (see program --help)`,
		"--level wran":      `--level must be one of debug, info, warn, error, not "wran": did you mean "warn"?`,
		"--polcy x":         `unknown flag --polcy`,
	} {
		var flags struct {
			Require string `enum:",any,pinned,witnessed" default:""`
			Level   slog.Level
		}
		_, err := commandline.Parse(&flags, strings.Fields(args), kong.Name("program"), kong.Writers(io.Discard, io.Discard))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %s", args, err, want)
		}
	}
}

// A misspelt command is not taken silently for an argument of the default one.
func TestAMisspeltCommandBesideADefaultOne(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"wach":    `unexpected argument wach, did you mean "watch"? (see program --help)`,
		"banana":  "unexpected argument banana (see program --help)",
		"watch x": "unexpected argument x (see program watch --help)",
		"--bnn":   "unknown flag --bnn (see program list --help)",
	} {
		var flags struct {
			List  struct{} `cmd:"" default:"withargs"`
			Watch struct{} `cmd:""`
		}
		_, err := commandline.Parse(&flags, strings.Fields(args), kong.Name("program"), kong.Writers(io.Discard, io.Discard))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", args, err, want)
		}
	}
}
