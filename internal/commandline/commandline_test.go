package commandline_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/commandline"
)

// An error names the help that lists the flags of the command.
func TestAnErrorNamesTheHelpOfTheCommand(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"up --polcy x":    "(see program up --help)",
		"up --policy /no": "(see program up --help)",
		"check":           "(see program check --help)",
		"--polcy x":       "(see program serve --help)",
		"--file /no":      "(see program serve --help)",
		"--level loud":    "(see program serve --help)",
		"upp":             "(see program --help)",
	} {
		var flags struct {
			Up struct {
				Policy string `type:"existingfile"`
			} `cmd:""`
			Serve struct {
				File  string `type:"existingfile"`
				Level string `enum:"info,warn" default:"info"`
			} `cmd:"" default:"withargs"`
			Check struct {
				File string `arg:""`
			} `cmd:""`
		}
		_, err := commandline.Parse(&flags, strings.Fields(args), kong.Name("program"), kong.Writers(io.Discard, io.Discard))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v; want that it ends with %s", args, err, want)
		}
	}
}

// A flag for a file that is given twice is an error: neither file is ignored silently.
func TestAFileThatIsGivenTwice(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, second := range []string{file, file + ".none"} {
		var flags struct {
			Rules string `type:"existingfile"`
			Level string
		}
		args := []string{"--level", "a", "--level", "b", "--rules", file}
		if _, err := commandline.Parse(&flags, args); err != nil || flags.Rules != file || flags.Level != "b" {
			t.Errorf("%q: %+v, error %v", args, flags, err)
		}
		args = append(args, "--rules="+second)
		if _, err := commandline.Parse(&flags, args); err == nil || err.Error() != "--rules is given twice: leave one of them out" {
			t.Errorf("%q: error %v", args, err)
		}
	}
}
