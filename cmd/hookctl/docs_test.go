package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```\n")
	tookPattern  = regexp.MustCompile(`in [0-9][0-9.hmnµ]*s\b`)
)

// example is a command of docs/hookctl.md and what it shows.
type example struct {
	args   []string
	output string
}

// examples reads the console blocks of the page.
func examples(t *testing.T) (list []example) {
	t.Helper()
	page, err := os.ReadFile("../../docs/hookctl.md")
	if err != nil {
		t.Fatal(err)
	}
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

// words splits a line as a shell does, quotes included.
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

// TestTheExamplesOfThePage runs the examples of docs/hookctl.md: first those that
// run until they are interrupted, then the others, on the same bus.
func TestTheExamplesOfThePage(t *testing.T) {
	f := newFixture(t)
	list := examples(t)
	if len(list) < 15 {
		t.Fatalf("%d examples; want those of docs/hookctl.md", len(list))
	}
	served := map[*background][]string{}
	for _, e := range list {
		if e.runsOn() {
			b := f.start(process{}, e.args...)
			lines := strings.Split(e.output, "\n")
			b.want(steady(lines[0]))
			served[b] = lines[1:]
		}
	}
	for _, e := range list {
		if e.runsOn() {
			continue
		}
		got := f.run(e.args...)
		if diff := cmp.Diff(settled(e.output), settled(got.stdout)); diff != "" {
			t.Errorf("hookctl %q (-page +got):\n%s%s", e.args, diff, got.stderr)
		}
	}
	for b, lines := range served {
		b.want(steadyLines(lines)...)
		if code := b.end(); code != exitOK {
			t.Errorf("exit code %d; want %d", code, exitOK)
		}
	}
}

// settled is steady, without the times of reports and the blanks at the ends of
// lines, which a page does not show.
func settled(text string) string {
	text = tookPattern.ReplaceAllString(text, "in TIME") // first: steady knows only some of them
	lines := strings.Split(strings.TrimSpace(steady(text)), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func steadyLines(lines []string) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = steady(line)
	}
	return list
}
