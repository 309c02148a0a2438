package shell_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

func ExampleParse() {
	script := shell.Parse("cd build && sudo -u ci sh -c 'make | tee \"$LOG\"' > out", "/repo")
	for _, c := range script.Commands {
		fmt.Println(c, c.Dirs, c.Writes())
	}
	fmt.Println(script.Doubts)
	// Output:
	// cd build [/repo] false
	// sudo -u ci sh -c make | tee "$LOG" [/repo /repo/build] true
	// make [/repo /repo/build] true
	// tee $LOG [/repo /repo/build] true
	// sh -c make | tee "$LOG" [/repo /repo/build] true
	// []
}

func ExamplePattern() {
	pattern, err := shell.ParsePattern("git push --force")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range []string{"git -C x push origin --force", "git push $OPTIONS", "git push --force"} {
		c := shell.Parse(line, "").Commands[0]
		fmt.Println(pattern.In(c) == shell.Yes, pattern.In(c) == shell.Maybe, pattern.Covers(c))
	}
	// Output:
	// true false false
	// false true false
	// true false true
}

// commandLines returns the commands that a line runs, as strings.
func commandLines(script shell.Script) (all []string) {
	for _, c := range script.Commands {
		all = append(all, c.String())
	}
	return all
}

func TestWhatALineRuns(t *testing.T) {
	for line, want := range map[string][]string{
		"a; b && c | d & e":                           {"a", "b", "c", "d", "e"},
		"a \"$(b `c`)\" <(d) >(e)":                    {"a $(b `c`) <(d) >(e)", "b `c`", "c", "d", "e"},
		"x=$(a) y=1 b":                                {"x=… y=… b", "a"},
		"X=1; y=2; TZ=x; CC=cc; Z=(3) > a":            {"X=…", "Z=…"},
		"for X in a; do read -p y Z; done":            {"X=…", "Z=…", "read -p y Z"},
		"(( X = 1, X <= 2 )); exec {Y}> b":            {"X=…", "Y=…", "exec"},
		"for i in $(a); do b; done":                   {"a", "b"},
		"f() { a; }":                                  {"a"},
		"timeout --signal=9 -k 1 5 nice -n 3 a b":     {"timeout --signal=9 -k 1 5 nice -n 3 a b", "nice -n 3 a b", "a b"},
		"find . -exec a {} \\; -execdir b c {} +":     {"find . -exec a {} ; -execdir b c {} +", "a {}", "b c {}"},
		"find a /b -name '*.c' -exec d {} \\;":        {"find a /b -name *.c -exec d {} ;", "d ./a/*.c ./a/.*.c /b/*.c /b/.*.c"},
		"find -name a -exec b {} {}x \\;":             {"find -name a -exec b {} {}x ;", "b ./a {}x"},
		"find -name a -o -name b -exec c {} +":        {"find -name a -o -name b -exec c {} +", "c {}"},
		"find . -name a -print0 | xargs -0 b":         {"find . -name a -print0", "xargs -0 b", "b ./a"},
		"find . -name a | xargs -a f b":               {"find . -name a", "xargs -a f b", "b …"},
		"ls | xargs -I% a % b":                        {"ls", "xargs -I% a % b", "a % b"},
		"echo 'a b' | sh":                             {"echo a b", "a b", "sh"},
		"sh <<'E'\na\nE":                              {"a", "sh"},
		"cat <<E\n$(a)\nE":                            {"a", "cat"},
		"eval a 'b; c'":                               {"a b", "c", "eval a b; c"},
		"sudo -- VAR=1 a":                             {"sudo -- VAR=1 a", "a"},
		"env -u X VAR=1 a":                            {"env -u X VAR=1 a", "a"},
		"ssh -p 2 host a '&&' b":                      {"ssh -p 2 host a && b", "a", "b"},
		"a{b,c}d":                                     {"abd acd"},
		"'a\\b' \"c\\d\\$\" e\\f $'\\t\\u0041'":       {"a\\b c\\d$ ef \tA"},
		"if a; then b; elif c; then d; else e; fi":    {"a", "b", "c", "d", "e"},
		"(( x = $(a) )); [[ $(b) ]]; echo $(( `c` ))": {"a", "b", "echo $(( `c` ))", "c"},
	} {
		script := shell.Parse(line, "")
		if diff := cmp.Diff(want, commandLines(script)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestDoubts(t *testing.T) {
	for line, want := range map[string]shell.Doubt{
		"$X":                 "the name of the command is known only when it runs: $X",
		"sudo --new-flag a":  "the options of sudo are not known: sudo --new-flag a",
		"a | sh":             "sh runs what a prints",
		"sh < f":             "sh runs the content of f",
		"eval \"$x\"":        "eval runs what is known only then: $x",
		"python3 -c eval":    "code in Python is not read here",
		"git -c alias.x=y x": "git is told to run a command: alias.x=y",
	} {
		var got []shell.Doubt
		for _, c := range shell.Parse(line, "").Commands {
			got = append(got, c.Doubts...)
		}
		if diff := cmp.Diff([]shell.Doubt{want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	for line, want := range map[string]shell.Doubt{
		"a (":       "it is not a line that bash could read",
		"a \u202eb": "it has characters that can't be seen",
		"ENV=x a":   "the variable ENV makes other programs run something",

		"PATH=(/x); a":                   "the variable PATH changes which commands the names mean",
		"PATH={/usr/bin,:/x}; a":         "the variable PATH changes which commands the names mean",
		"for PATH in /x; do a; done":     "the variable PATH changes which commands the names mean",
		": ${PATH:=/x}; a":               "the variable PATH changes which commands the names mean",
		"((PATH = 1)); a":                "the variable PATH changes which commands the names mean",
		"exec {PATH}> b; a":              "the variable PATH changes which commands the names mean",
		"read -r -p x PATH <<< /x; a":    "the variable PATH changes which commands the names mean",
		"read -ra PATH <<< /x; a":        "the variable PATH changes which commands the names mean",
		"mapfile -t PATH < b; a":         "the variable PATH changes which commands the names mean",
		"getopts ab PATH; a":             "the variable PATH changes which commands the names mean",
		"printf -v PATH %s /x; a":        "the variable PATH changes which commands the names mean",
		"builtin printf -vPATH[0] /x; a": "the variable PATH changes which commands the names mean",
		"read HOME <<< /x; a":            "the variable HOME changes where ~ and other names lead",
		"printf -v \"$X\" /x":            "the name of a variable is known only when it runs",
		"declare -n X=PATH; X=/x; a":     "a variable is made another name for one",
		"GIT_EDITOR=./x a":               "the variable GIT_EDITOR makes other programs run something",
		"BASH_ENV=cat a":                 "the variable BASH_ENV makes other programs run something",
	} {
		if diff := cmp.Diff([]shell.Doubt{want}, shell.Parse(line, "").Doubts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		want          bool
	}{
		{"git status", "git status", true},
		{"git status", "git status -s", false},
		{"git status *", "git status", true},
		{"git status *", "git status -s x", true},
		{"git *", "git", true},
		{"git * -s", "git status -s", true},
		{"git * -s", "git $X -s", false},
		{"git * -s", "git \"$X\" -s", true},
		{"git st*", "git status", true},
		{"git status", "/tmp/git status", false},
		{"git status", "GIT status", false},
		{"* status", "git status", true},
		{"ls *", "ls > x", false},
		{"ls *", "ls 2> /dev/null", true},
		{"ls *", "ls 2>&1", true},
		{"ls *.go", "ls *.go", false},
		{"cat /repo/*", "cat /repo/a/b..c", true},
		{"cat /repo/*", "cat /repo/../etc/shadow", false},
		{"cat /repo/*", "cat /repo/a/..", false},
		{"cat /repo/??/x", "cat /repo/../x", false},
		{"cat ../a/*", "cat ../a/b", true},
		{"cat ../*", "cat ../../a", false},
		{"cat *", "cat ../a", true},
		{"curl https://h/a/*", "curl https://h/a/%2E./b", false},
		{"tool --in=*", "tool --in=../a", false},
		{"git diff v*", "git diff v1..v2", true},
		{"go test *", "CGO_ENABLED=0 LC_ALL=C GOFLAGS=-mod=mod go test ./...", true},
		{"go test *", "X=1 go test ./...", false},
		{"go test *", "CC=clang-18 go test ./...", true},
		{"go test *", "CC=./x go test ./...", false},
		{"git log", "PAGER=cat git log", true},
		{"git log", "HOME=/tmp/x git log", false},
		{"python x", "PYTHONPATH=/tmp/x python x", false},
		{"PYTHONPATH=. python x", "PYTHONPATH=. python x", true},
		{"PYTHONPATH=. python x", "PYTHONPATH=/tmp/x python x", false},
		{"PYTHONPATH=. python x", "python x", true},
		{"X=* python x", "X=$Y python x", true},
		{"X=* wc *", "X=$(a)", true},
		{"wc *", "X=$(a)", false},
		{"X=/a/* wc *", "X=/a/../b wc c", false},
		{"ls *", "ls *.go", true},
	} {
		p, err := shell.ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Covers(shell.Parse(c.line, "").Commands[0]); got != c.want {
			t.Errorf("%q covers %q: %v, want %v", c.pattern, c.line, got, c.want)
		}
	}
}
