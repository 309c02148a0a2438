package bashvalidator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func bash(t testing.TB, command any) events.Event {
	t.Helper()
	data, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}})
	if err != nil {
		t.Fatal(err)
	}
	return events.Event{Name: events.ToolPre, Data: data}
}

func TestHookDenies(t *testing.T) {
	for sentence, command := range map[string]string{
		"the classic":                            `rm -rf /`,
		"more spaces":                            "rm  -rf \t /",
		"the flags the other way round":          `rm -fr /`,
		"the flags apart":                        `rm -r -f --no-preserve-root /`,
		"the flags behind":                       `rm / -rf`,
		"the flags in capitals":                  `rm -Rf /`,
		"the flags by name":                      `rm --recursive --force /`,
		"a flag's name cut short":                `rm --recur /`,
		"behind the end of flags":                `rm -rf -- /`,
		"everything below the root":              `sudo rm -rf /*`,
		"the root by a longer way":               `rm -rf /tmp/../`,
		"the root with a dot":                    `rm -rf /.`,
		"the root with many slashes":             `rm -rf ///`,
		"some letters for directories":           `rm -rf /???`,
		"a list of directories":                  `rm -rf /{bin,etc}`,
		"a system directory":                     `rm -rf /usr`,
		"a system directory's contents":          `rm -rf /etc/*`,
		"hidden files of a system directory":     `rm -rf /var/.[!.]* /tmp/x`,
		"by accident, with a space":              `rm -rf / tmp/build`,
		"one's home":                             `rm -rf ~`,
		"one's home's contents":                  `rm -rf ~/*`,
		"one's home by its variable":             `rm -rf "$HOME"/`,
		"one's home by its variable, braces":     `rm -rf ${HOME}/*`,
		"above one's home":                       `rm -rf ~/..`,
		"somebody's home":                        `rm -rf /home/eve`,
		"somebody's home by its short name":      `rm -rf ~eve`,
		"the program by its path":                `/bin/rm -rf /`,
		"the program in quotes":                  `"rm" -rf '/'`,
		"the program with a backslash":           `\rm -rf \/`,
		"the program in pieces":                  `r''m -r"f" /`,
		"the program in capitals (macOS)":        `RM -rf /`,
		"spaces in disguise":                     `rm${IFS}-rf$IFS/`,
		"a line that goes on":                    "rm -rf \\\n  /",
		"behind another command":                 `ls; rm -rf /`,
		"behind and":                             `true && rm -rf /`,
		"behind or":                              `false||rm -rf /`,
		"behind a pipe":                          `ls | rm -rf /`,
		"in the background":                      `rm -rf /&`,
		"in the next line":                       "ls\nrm -rf /",
		"behind a comment":                       "# tidy up\nrm -rf /",
		"in a subshell":                          `(rm -rf /)`,
		"in a group":                             `{ rm -rf /; }`,
		"in a condition":                         `if true; then rm -rf /; fi`,
		"in a loop":                              `for i in 1; do rm -rf /; done`,
		"in a substitution":                      `echo $(rm -rf /)`,
		"in a quoted substitution":               `echo "now: $(ls; rm -rf /)"`,
		"in a substitution within another":       `echo $(echo "$(rm -rf /)")`,
		"in backquotes":                          "echo `rm -rf /`",
		"in quoted backquotes":                   "echo \"`rm -rf /`\"",
		"in the input of a process":              `cat <(rm -rf /)`,
		"behind a substitution that has a quote": "git commit -m \"$(cat <<'EOF'\nDon't (\nEOF\n)\" && rm -rf /",
		"with a variable set":                    `FOO=bar rm -rf /`,
		"with sudo's options":                    `sudo -n -u root rm -rf /`,
		"with env":                               `/usr/bin/env -i A=b rm -rf /`,
		"with a limit of time":                   `nohup timeout 5 rm -rf /`,
		"as a script":                            `bash -c "rm -rf /"`,
		"as a script of a login shell":           `sudo sh -lc 'cd /tmp; rm -rf /'`,
		"as a script in a script":                `bash -c "bash -c 'rm -rf /'"`,
		"as another user":                        `su root -c 'rm -rf /'`,
		"evaluated":                              `eval "rm -rf" /`,
		"when it exits":                          `trap 'rm -rf /' EXIT`,
		"in a here document for a shell":         "bash <<EOF\nrm -rf /\nEOF",
		"in a here document that substitutes":    "cat <<EOF\ndon't $(rm -rf /)\nEOF",
		"behind a here document":                 "cat <<-'EOF'\n\trm\n\tEOF\nrm -rf /",
		"in a here string for a shell":           `sh <<< "rm -rf /"`,
		"what is here after cd":                  `cd / && rm -rf *`,
		"what is here after cd home":             `cd; rm -rf ./*`,
		"what is there after two cd":             `cd /usr/lib; cd ..; rm -rf .`,
		"output thrown away":                     `rm -rf / >/dev/null 2>&1`,
		"find without a choice":                  `find / -delete`,
		"find with rm":                           `find /usr -type f -exec rm -f {} +`,
		"everybody may write everything":         `chmod -R 777 /`,
		"everything belongs to one":              `sudo chown -R eve:eve /`,
		"a disk overwritten":                     `dd if=/dev/zero of=/dev/sda bs=1M`,
		"a disk written to":                      `cat image > /dev/nvme0n1`,
		"a disk written to, and more":            `echo x >>/dev/sda`,
		"a disk as the target of a copy":         `cp image /dev/disk2`,
		"a disk as the target of tee":            `cat image | sudo tee /dev/sdb`,
		"a disk formatted":                       `mkfs.ext4 -F /dev/sda1`,
		"a fork bomb":                            `:(){ :|:& };:`,
		"a fork bomb with spaces":                `: ( ) { : | : & } ; :`,
		"quotes that are not closed":             `rm -rf "/`,
		"a substitution that is not closed":      `echo $(rm -rf /`,
		"a backquote that is not closed":         "echo `rm -rf /",
		"a here document that is not closed":     "sh <<EOF\nrm -rf /",
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook()(t.Context(), bash(t, command))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Denied() || !strings.HasPrefix(got.Reason, "Dangerous command blocked: ") {
				t.Errorf("%s\nis %q %q", command, got.Action, got.Reason)
			}
		})
	}
}

func TestHookLetsPass(t *testing.T) {
	for sentence, command := range map[string]string{
		"nothing":                               ``,
		"an ordinary command":                   `go test ./...`,
		"a directory below tmp":                 `rm -rf /tmp/x`,
		"what is in tmp":                        `rm -rf /tmp/*`,
		"the build directory":                   `rm -rf ./build node_modules`,
		"what is here, wherever that is":        `rm -rf *`,
		"what is in a project":                  `cd /home/me/project && rm -rf *`,
		"one file of the system":                `rm /etc/motd.bak`,
		"a directory below a system directory":  `rm -rf /var/lib/app/cache`,
		"a directory of one's home":             `rm -rf ~/project/build`,
		"not recursive":                         `rm -f /`,
		"printed":                               `echo "rm -rf /"`,
		"printed without quotes":                `echo rm -rf /`,
		"searched for":                          `grep -rn 'rm -rf /' .`,
		"a commit message":                      `git commit -m "stop rm -rf / at the door; rm -rf /"`,
		"a commit message in a here document":   "git commit -m \"$(cat <<'EOF'\nDeny it:\nrm -rf /\n`rm -rf /`\nEOF\n)\"",
		"a file written with a here document":   "cat > notes.md <<'EOF'\nrm -rf /\nEOF\nls",
		"a comment":                             `ls # rm -rf /`,
		"a hash within a word":                  `echo a#b`,
		"single quotes hold substitutions":      `echo '$(rm -rf /)'`,
		"a dollar that is escaped":              `echo "\$(rm -rf /)"`,
		"find with a choice":                    `find /var -name '*.log' -delete`,
		"find in the project":                   `find . -delete`,
		"rights of a project":                   `chmod -R u+w /srv/app`,
		"a disk read":                           `dd if=/dev/sda of=backup.img`,
		"a disk copied from":                    `cp /dev/sda1 backup.img`,
		"the null device":                       `make > /dev/null 2>&1`,
		"a program whose name ends like rm":     `charm -rf /`,
		"a user named like a program":           `sudo -u postgres psql -c 'select 1'`,
		"help":                                  `rm --help`,
		"rm and a directory in different words": `rm -r build; ls /`,
		"a list of flags without operands":      `xargs rm -rf`,
		"an arithmetic":                         `echo $((1+2))`,
		"a word with a tilde":                   `rm -rf backup~`,
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook()(t.Context(), bash(t, command))
			if err != nil {
				t.Fatal(err)
			}
			if got.Action != "" {
				t.Errorf("%s\nis %q %q", command, got.Action, got.Reason)
			}
		})
	}
}

func TestHookReadsListsOfWords(t *testing.T) {
	for sentence, c := range map[string]struct {
		data   string
		denied bool
	}{
		"a list of words":                {`{"tool_input":{"command":["rm","-rf","/"]}}`, true},
		"a list with a script":           {`{"tool_input":{"command":["bash","-lc","rm -rf /"]}}`, true},
		"a harmless list":                {`{"tool_input":{"command":["ls","; rm -rf /"]}}`, false},
		"an empty list":                  {`{"tool_input":{"command":[]}}`, false},
		"the member of another agent":    {`{"tool_input":{"cmd":"rm -rf /"}}`, true},
		"both members":                   {`{"tool_input":{"command":"ls","cmd":"rm -rf /"}}`, true},
		"the tool sees the right member": {`{"tool_input":{"command":"rm -rf /","Command":"ls"}}`, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook()(t.Context(), events.Event{Data: json.RawMessage(c.data)})
			if err != nil || got.Denied() != c.denied {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestHookFailsOnWhatItCannotRead(t *testing.T) {
	for sentence, data := range map[string]string{
		"no command":                  `{"tool_name":"Bash","tool_input":{"script":"rm -rf /"}}`,
		"no input":                    `{"tool_name":"Bash"}`,
		"a command that is a number":  `{"tool_input":{"command":5}}`,
		"a command that is null":      `{"tool_input":{"command":null}}`,
		"a list that is not of words": `{"tool_input":{"command":["rm",["-rf","/"]]}}`,
		"input that is text":          `{"tool_input":"rm -rf /"}`,
		"scripts nested too deep":     `{"tool_input":{"command":"` + strings.Repeat("$(", 40) + `"}}`,
		"shells nested too deep":      `{"tool_input":{"command":"` + strings.Repeat("eval ", 40) + `rm -rf /"}}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, err := Hook()(t.Context(), events.Event{Data: json.RawMessage(data)}); err == nil {
				t.Errorf("decided %+v: an error makes the router deny", got)
			}
		})
	}
	if r := Registration(); r.OnFailure != chain.FailClosed {
		t.Errorf("on_failure is %q", r.OnFailure)
	}
}

func TestReasonIsShort(t *testing.T) {
	got, err := Hook()(t.Context(), bash(t, "rm -rf / \\\n"+strings.Repeat("é ", 5000)))
	if err != nil || !got.Denied() || len(got.Reason) > 250 || strings.Contains(got.Reason, "\n") {
		t.Errorf("%q, %v", got.Reason, err)
	}
}

func TestFollowedDirectoryIsBounded(t *testing.T) {
	s := &shell{}
	if _, err := s.script("cd /;"+strings.Repeat("cd some_directory;", 1000), 0); err != nil || len(s.dir) > maxPath {
		t.Errorf("%d bytes, %v: each cd would take longer than the one before", len(s.dir), err)
	}
}

// FuzzScript: no script breaks the parser, and none makes a denied line before it
// harmless.
func FuzzScript(f *testing.F) {
	for _, s := range []string{
		`sudo rm -rf /*`, "cat <<EOF\n$(rm -rf /)\nEOF", `bash -c "rm -rf '/'"`, "`ls`", `echo "$(`, `cd ~; rm -rf *`, `>`, `<<`, `$`, "\\",
		`a>b 2>&1 <c <<-d`, `#`, `x=1 if { ! (`, `find / -exec rm {} \;`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		found, err := (&shell{}).script(script, 0)
		if err != nil {
			return
		}
		if after, err := (&shell{}).script("rm -rf /\n"+script, 0); err == nil && after == "" {
			t.Fatalf("%q hides a command before it; alone it is %q", script, found)
		}
	})
}

func ExampleHook() {
	guard := Hook()
	ev := events.Event{Name: events.ToolPre, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"sudo  rm -fr  /"}}`)}
	result, err := guard(context.Background(), ev)
	fmt.Println(result.Action, "-", result.Reason, err)
	// Output: deny - Dangerous command blocked: rm -fr / <nil>
}
