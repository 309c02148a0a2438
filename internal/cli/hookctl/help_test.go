package hookctl_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// offline returns hookctl without a bus.
func offline(t *testing.T) *clitest.Fixture {
	t.Helper()
	return &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{}}
}

// Each command lists its own exit codes in a line or two, and says where all of them are listed.
func TestHelpNamesTheExitCodes(t *testing.T) {
	t.Parallel()
	f := offline(t)
	if got := f.Run("help", "exit-codes"); got.Code != cli.ExitOK || got.Stdout != cli.ExitCodes {
		t.Errorf("help exit-codes: %+v", got)
	}
	for args, want := range map[string]string{
		"--help":                "\nExit codes: 0 done, 1 an error here, 3 refused, 4 unreachable;\n",
		"connect --help":        "\nExit codes: 0 done, 1 an error here, 3 refused, 4 unreachable;\n",
		"emit --help":           "\nExit codes: 0 continue, 2 denied, 5 a person must be asked; others:\n",
		"help emit":             "\nExit codes: 0 continue, 2 denied, 5 a person must be asked; others:\n",
		"audit verify --help":   "\nExit codes: 0 witnessed, 10 pinned, 20 unanchored, 30 diverged,\n            40 invalid, 50 incomplete, 60 unknown format; others:\n",
		"audit check --help":    "\nExit codes: 0 proved, 40 not proved, 60 unknown format; others:\n",
		"policy compare --help": "\nExit codes: those above, and 3 refused, 4 unreachable;\n",
	} {
		got := f.Run(strings.Fields(args)...)
		if got.Code != cli.ExitOK || !strings.HasSuffix(got.Stdout, want+"            see hookctl help exit-codes\n") {
			t.Errorf("%s: exit code %d, stdout:\n%s\nwant that it ends with%s", args, got.Code, got.Stdout, want)
		}
	}
}

func TestHelpIsInGroupsAndFitsATerminal(t *testing.T) {
	t.Parallel()
	f := offline(t)
	got := f.Run("--help")
	at := -1
	for _, title := range []string{"\nAgents: ", "\nHooks: ", "\nApprovals: ", "\nAudit: ", "\nOperate: ", "\nFlags:", "\nConnection: ", "\nExit codes:"} {
		i := strings.Index(got.Stdout, title)
		if i <= at {
			t.Errorf("%q stands at %d, after %d:\n%s", title, i, at, got.Stdout)
		}
		at = i
	}
	for _, args := range []string{"--help", "help audit", "help audit query", "help audit verify", "help audit witness", "help approvals", "help connection", "help hook add"} {
		for line := range strings.Lines(f.Run(strings.Fields(args)...).Stdout) {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("hookctl %s: more than 80 columns: %s", args, line)
			}
		}
	}
}

func TestNothingAndNounsPrintHelp(t *testing.T) {
	t.Parallel()
	f := offline(t)
	for _, args := range [][]string{{}, {"audit"}, {"audit", "key"}, {"session"}, {"hook"}, {"auth"}} {
		got, help := f.Run(args...), f.Run(append(slices.Clone(args), "--help")...)
		if got.Stdout != help.Stdout || got.Stdout == "" || got.Code != cli.ExitLocal {
			t.Errorf("hookctl %v: exit code %d, %s, stdout:\n%s", args, got.Code, got.Stderr, got.Stdout)
		}
	}
	if got := f.Run("approvals", "show"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, `expected "<id>" (see hookctl approvals show --help)`) {
		t.Errorf("a command without its argument: %+v", got)
	}
	if got := f.Run("audit", "qery"); got.Code != cli.ExitLocal || got.Stdout != "" || !strings.Contains(got.Stderr, `did you mean one of "query"`) {
		t.Errorf("a word that is no command: %+v", got)
	}
}

func TestConnectionFlagsAreOneLineAndATopic(t *testing.T) {
	t.Parallel()
	f := offline(t)
	if got := f.Run("emit", "--help"); strings.Contains(got.Stdout, "--tlsca") || !strings.Contains(got.Stdout, "see hookctl help connection") {
		t.Errorf("emit --help:\n%s", got.Stdout)
	}
	got := f.Run("help", "connection")
	for _, want := range []string{"--server=URL", "$NATS_URL", "--tlsca=FILE", "--prefix=TOKEN"} {
		if !strings.Contains(got.Stdout, want) || got.Code != cli.ExitOK {
			t.Errorf("help connection: exit code %d, no %s:\n%s", got.Code, want, got.Stdout)
		}
	}
	if got := f.Run("completion", "bash"); !strings.Contains(got.Stdout, "--tlsca") {
		t.Error("the completions have lost the flags of the connection")
	}
	if got := f.Run("help", "nosuch"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, `"nosuch"`) {
		t.Errorf("help nosuch: %+v", got)
	}
}

func TestVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	f := offline(t)
	flag, command := f.Run("--version"), f.Run("version")
	if flag.Code != cli.ExitOK || !strings.Contains(flag.Stdout, " (commit ") || command.Stdout != flag.Stdout {
		t.Errorf("--version: %+v; version: %+v", flag, command)
	}
}

func TestThePipeDoesNotChooseTheFormat(t *testing.T) {
	t.Parallel()
	f := offline(t)
	for format, c := range map[string]struct {
		args []string
		json bool
	}{
		"":      {[]string{"version"}, false},
		"text":  {[]string{"version"}, false},
		"json":  {[]string{"version"}, true},
		"json ": {[]string{"version", "--text"}, false},
		"text ": {[]string{"version", "--json"}, true},
	} {
		for _, terminal := range []bool{false, true} {
			f.Env["HOOKCTL_FORMAT"] = strings.TrimSpace(format)
			got := f.With(cli.Process{Terminal: terminal}, c.args...)
			if got.Code != cli.ExitOK || strings.HasPrefix(got.Stdout, "{") != c.json {
				t.Errorf("HOOKCTL_FORMAT=%s hookctl %v, terminal %t: %+v", format, c.args, terminal, got)
			}
		}
	}
	f.Env["HOOKCTL_FORMAT"] = "yaml"
	if got := f.Run("version"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "text or json") {
		t.Errorf("HOOKCTL_FORMAT=yaml: %+v", got)
	}
}
