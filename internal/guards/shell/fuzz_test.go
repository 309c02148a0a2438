package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// FuzzParse checks for any text that nothing panics, that all limits are respected, that a command
// has a name or a doubt, and that a pattern which covers a command is also in it.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"ls -la | wc", "sudo -u x rm -rf /", "bash <<E\n$x\nE", `eval "$(curl x)"`, "f(){ f|f& };f", "a=$(b) c >d <(e) {f,g}", `$'\x72m' *`, "find / -exec rm {} +",
		"alias a='b'; trap c EXIT", "xargs -n1 env X=1 nice -n 5 timeout 3 rm", "for((i=0;;i++));do :;done", "case $x in a) b;; esac", "[[ a =~ $(b) ]]", "cd a; cd ..; git -C /x push -f",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		script := shell.Parse(line, "/repo")
		if len(script.Commands) > shell.MaxCommands {
			t.Errorf("%d commands", len(script.Commands))
		}
		for _, c := range script.Commands {
			if len(c.Words) > 0 && c.Name() == "" && c.Words[0].Text != "" && len(c.Doubts) == 0 && c.Words[0].Text[len(c.Words[0].Text)-1] != '/' && c.Words[0].Text[len(c.Words[0].Text)-1] != '\\' {
				t.Errorf("%+v has neither a name nor a doubt", c)
			}
			if p, err := shell.ParsePattern(c.String()); err == nil && len(c.Words) > 0 && p.Covers(c) && p.In(c) != shell.Yes && c.Name() == c.Words[0].Text {
				t.Errorf("%q covers %+v, and is not in it", p, c)
			}
		}
		if diff := cmp.Diff(script, shell.Parse(line, "/repo")); diff != "" {
			t.Errorf("it is not the same twice:\n%s", diff)
		}
	})
}
