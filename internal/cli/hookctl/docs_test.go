package hookctl_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

var (
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```\n")
	fileBlock    = regexp.MustCompile("(?s)```text file=([a-z.]+)\n(.*?)```\n")
)

// example is a command on a page and its output.
type example struct {
	args   []string
	output string
}

// examples parses the console blocks of a page.
func examples(page []byte) (list []example) {
	for _, block := range consoleBlock.FindAllSubmatch(page, -1) {
		for _, text := range strings.Split("\n"+string(block[1]), "\n$ hookctl ")[1:] {
			line, output, _ := strings.Cut(text, "\n")
			args := words(line)
			if !strings.Contains(line, "--json") {
				args = append([]string{"--text"}, args...)
			}
			list = append(list, example{args, strings.TrimSpace(output)})
		}
	}
	return list
}

// words splits a line as a shell does, including quotes.
func words(line string) (list []string) {
	word, quote := "", rune(0)
	for _, r := range line + " " {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			list, word = append(list, word), ""
		default:
			word += string(r)
		}
	}
	return list
}

func (e example) runsOn() bool {
	command := strings.Join(e.args[1:], " ")
	return strings.HasPrefix(command, "hook add") || strings.HasPrefix(command, "watch")
}

// TestTheExamplesOfThePages runs the examples of each page on the same bus: first those that run
// until interrupted, then the others. They run in a directory with the files of the page. The id of
// an approval request on the page stands for the latest one that was shown.
func TestTheExamplesOfThePages(t *testing.T) {
	for name, atLeast := range map[string]int{"hookctl.md": 12, "approvals-terminal.md": 11} {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile("../../../docs/" + name)
			if err != nil {
				t.Fatal(err)
			}
			list := examples(page)
			if len(list) < atLeast {
				t.Fatalf("%d examples; want those of the page", len(list))
			}
			t.Chdir(t.TempDir())
			for _, file := range fileBlock.FindAllSubmatch(page, -1) {
				if err := os.WriteFile(string(file[1]), file[2], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runExamples(t, list)
		})
	}
}

func runExamples(t *testing.T, list []example) {
	f := clibus.New(t, hookctl.Run)
	served := map[*clitest.Background][]string{}
	for _, e := range list {
		if e.runsOn() {
			b := f.Start(cli.Process{}, e.args...)
			lines := strings.Split(e.output, "\n")
			b.Want(clitest.Steady(lines[0]))
			served[b] = lines[1:]
		}
	}
	question := ""
	for _, e := range list {
		if e.runsOn() {
			continue
		}
		for i, arg := range e.args {
			e.args[i] = clitest.ApprovalID.ReplaceAllString(arg, question)
		}
		got := f.Run(e.args...)
		if id := clitest.ApprovalID.FindString(got.Stdout); id != "" {
			question = id
		}
		if diff := cmp.Diff(clitest.Settled(e.output), clitest.Settled(got.Stdout)); diff != "" {
			t.Errorf("hookctl %q (-page +got):\n%s%s", e.args, diff, got.Stderr)
		}
	}
	for b, lines := range served {
		b.Want(clitest.SteadyLines(lines)...)
		if code := b.End(); code != cli.ExitOK {
			t.Errorf("exit code %d; want %d", code, cli.ExitOK)
		}
	}
}
