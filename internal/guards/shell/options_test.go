package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	strict := shell.Options{Flags: "vx", Values: "f", Long: "quiet --name= -chdir= -e="}
	for _, test := range []struct {
		of   shell.Options
		line string
		want []string
	}{
		{strict, "-v -xv a - -- b", []string{"-v", "-xv", "a", "- unlisted", "-- unlisted", "b"}},
		{strict, "-f a -vf b -vfc d -f=e", []string{"-f: a", "-f: b", "-f: c", "d", "-f: =e"}},
		{strict, "--quiet --quiet=x --name a --name=b=c --nam d", []string{"--quiet", "--quiet: x", "--name: a", "--name: b=c", "--nam unlisted", "d"}},
		{strict, "-chdir a -chdir=b -e c -e=d -ve", []string{"-chdir: a", "-chdir: b", "-e: c", "-e: d", "-ve unlisted"}},
		{strict, "-vz a -zf b --other=c", []string{"-vz unlisted", "a", "-zf unlisted", "b", "--other unlisted: c"}},
		{strict, "a -f", []string{"a", "-f: missing"}},
		{shell.Options{Values: "e", Any: true}, "-ne a -0777pe b -i.bak", []string{"-e: a", "-e: b", "-i.bak"}},
		{strict.With(shell.Options{Flags: "z", Long: "--zone="}), "-vz --zone -v --quiet", []string{"-vz", "--zone: -v", "--quiet"}},
	} {
		var words []shell.Word
		for text := range strings.FieldsSeq(test.line) {
			words = append(words, shell.Word{Text: text, Known: true})
		}
		var got []string
		for a := range test.of.In(words) {
			said := a.Text
			if a.Name != "" {
				said = a.Name
			}
			if a.Name != "" && !a.Listed {
				said += " unlisted"
			}
			switch {
			case a.Value.Many:
				said += ": missing"
			case a.Takes || a.Joined:
				said += ": " + a.Value.Text
			}
			got = append(got, said)
			if len(a.From) != len(a.Rest)+1 && (len(a.From) != len(a.Rest)+2 || !a.Takes || a.Joined) {
				t.Errorf("%q: %d words from %q on, and %d behind it", test.line, len(a.From), a.Text, len(a.Rest))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q:\n%s", test.line, diff)
		}
	}
}

func ExampleOptions_In() {
	line := shell.Parse("curl -sXPOST --data @x localhost", "").Commands[0]
	for a := range (shell.Options{Flags: "s", Values: "X", Long: "data="}).In(line.Args()) {
		fmt.Printf("%q %q\n", a.Name, a.Value.Text)
	}
	// Output:
	// "-X" "POST"
	// "--data" "@x"
	// "" ""
}

// TestEachOption checks that Each returns an option even if the preceding option may take it as a
// value.
func TestEachOption(t *testing.T) {
	t.Parallel()
	var got []string
	for a := range (shell.Options{Long: "-a= -b="}).Each(shell.Parse("x -a -b c", "").Commands[0].Args()) {
		got = append(got, a.Name+":"+a.Value.Text)
	}
	if diff := cmp.Diff([]string{"-a:-b", "-b:c", ":"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunsCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"env": false, "env -i": false, "env A=b": false, "env -u A": false, "env --chdir /x -0": false, "env ls": true, "env -u A B=c ls": true, "env -i -u -u ls": true,
	} {
		if got := shell.RunsCommand(shell.Parse(line, "").Commands[0]); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
