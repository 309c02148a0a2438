package completion_test

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/completion"
)

type program struct {
	URL   string `name:"url" help:"Where."`
	Serve struct {
		Audit string `enum:"strict,async,off" default:"strict"`
	} `cmd:"" default:"withargs"`
	Approvals struct {
		Watch struct {
			All bool
		} `cmd:""`
		List struct{} `cmd:"" default:"1"`
	} `cmd:""`
	Secret     struct{}           `cmd:"" hidden:""`
	Completion completion.Command `cmd:""`
}

// script parses a command line that prints a script.
func script(t *testing.T, shell string) string {
	t.Helper()
	var p program
	var out bytes.Buffer
	parser, err := kong.New(&p, kong.Name("a-program"), kong.Writers(&out, &out))
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := parser.Parse([]string{"completion", shell})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctx.Run(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	for line, want := range map[string][]string{
		"a-program ":                    {"serve", "approvals", "completion", "--help", "--url", "--audit"},
		"a-program app":                 {"approvals"},
		"a-program approvals ":          {"watch", "list", "--help", "--url"},
		"a-program approvals watch --a": {"--all"},
		"a-program --url x approvals w": {"watch"},
		"a-program serve --audit ":      {"strict", "async", "off"},
		"a-program --audit a":           {"async"},
		"a-program completion z":        {"zsh"},
		"a-program sec":                 {}, // hidden
	} {
		words := strings.Split(line, " ")
		test := script(t, "bash") + "COMP_WORDS=('" + strings.Join(words, "' '") + "')\nCOMP_CWORD=" +
			string(rune('0'+len(words)-1)) + "\n_a_program\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
		out, err := exec.CommandContext(t.Context(), bash, "-c", test).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", line, err, out)
		}
		if got := strings.Fields(string(out)); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%q completes to %q; want %q", line, got, want)
		}
	}
}

func TestOtherShellsParseTheirScript(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		text := script(t, shell)
		if !strings.Contains(text, "approvals watch") || strings.Contains(text, "secret") {
			t.Errorf("the script of %s lacks a command, or has a hidden one:\n%s", shell, text)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		check := exec.CommandContext(t.Context(), path, "-n")
		check.Stdin = strings.NewReader(text)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s refuses its script: %v\n%s", shell, err, out)
		}
	}
}

func TestAnUnknownShellIsRefused(t *testing.T) {
	if err := completion.Write(&bytes.Buffer{}, &kong.Application{Node: &kong.Node{}}, "csh"); err == nil {
		t.Error("csh is taken")
	}
}
