package commandguard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := commandguard.New(kind.Section{}, commandguard.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{"ls -l", "sudo sh -c 'rm -fr /'", "$CMD x"} {
		data, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}})
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := hook.Handler(context.Background(), events.Event{Name: events.ToolPre, Data: data})
		fmt.Printf("%q %s %v\n", result.Action, result.Reason, err)
	}
	// Output:
	// ""  <nil>
	// "deny" Command denied: it removes directories of the system or a whole home <nil>
	// "ask_user" cannot decide: the name of the command is known only when it runs: $CMD <nil>
}

func TestOptions(t *testing.T) {
	off := false
	list := func(s ...string) []string { return s }
	for sentence, c := range map[string]struct {
		o       commandguard.Options
		command string
		want    chain.Action
	}{
		"denied by the file":                          {commandguard.Options{Deny: list("terraform destroy")}, "terraform -chdir=x destroy -auto-approve", chain.Deny},
		"options in any order":                        {commandguard.Options{Deny: list("tool -a -b")}, "tool -xb y -a", chain.Deny},
		"options that are joined":                     {commandguard.Options{Deny: list("tool -ab")}, "tool -b -a", chain.Deny},
		"a long option with a value":                  {commandguard.Options{Deny: list("tool --mode*")}, "tool --mode=x", chain.Deny},
		"an option behind --":                         {commandguard.Options{Deny: list("tool -a")}, "tool -- -a", ""},
		"another name":                                {commandguard.Options{Deny: list("tool -a")}, "tools -a", ""},
		"a name with a directory":                     {commandguard.Options{Deny: list("tool")}, "./bin/Tool", chain.Deny},
		"asked about by the file":                     {commandguard.Options{Ask: list("git push")}, "git push", chain.AskUser},
		"asked about, and denied by what is built in": {commandguard.Options{Ask: list("git push")}, "git push --force", chain.Deny},
		"deny goes before ask":                        {commandguard.Options{Ask: list("git *"), Deny: list("git push")}, "git push", chain.Deny},
		"ask goes before allow":                       {commandguard.Options{Ask: list("git *"), Allow: list("git push")}, "git push", chain.AskUser},
		"it may be what is denied":                    {commandguard.Options{Deny: list("tool -a")}, "tool $X", chain.AskUser},
		"it may be, and is allowed":                   {commandguard.Options{Deny: list("tool -a"), Allow: list("tool *")}, "tool $X", chain.AskUser},
		"allowed, and denied by what is built in":     {commandguard.Options{Allow: list("git push -f origin feature")}, "git push -f origin feature", ""},
		"allowed, but another":                        {commandguard.Options{Allow: list("git push -f origin feature")}, "git push -f origin feature main", chain.Deny},
		"allowed, with a variable":                    {commandguard.Options{Otherwise: decision.Ask, Allow: list("kubectl get *")}, "KUBECONFIG=/tmp/x kubectl get pods", chain.AskUser},
		"allowed, behind a variable":                  {commandguard.Options{Otherwise: decision.Ask, Allow: list("kubectl get *")}, "KUBECONFIG=/tmp/x; kubectl get pods", chain.AskUser},
		"allowed, behind a variable of a command":     {commandguard.Options{Otherwise: decision.Ask, Allow: list("kubectl get *")}, "printf -v KUBECONFIG /tmp/x; kubectl get pods", chain.AskUser},
		"allowed, with a variable that is allowed":    {commandguard.Options{Otherwise: decision.Ask, Allow: list("KUBECONFIG=/home/* kubectl get *")}, "KUBECONFIG=/home/x kubectl get pods", ""},
		"allowed, with a variable of the line's own":  {commandguard.Options{Otherwise: decision.Ask, Allow: list("kubectl get *")}, "x=$(ls); kubectl get \"$x\"", ""},
		"denied, with whatever variables":             {commandguard.Options{Deny: list("FORCE=1 make")}, "make", chain.Deny},
		"allowed in one directory, and led out":       {commandguard.Options{Allow: list("rm -rf /scratch/*")}, "rm -rf /scratch/../etc", chain.Deny},
		"allowed, and written to a file":              {commandguard.Options{Allow: list("git push -f")}, "git push -f > x", chain.Deny},
		"allowed code":                                {commandguard.Options{Allow: list("python3 -c *")}, "python3 -c 'eval'", ""},
		"allowed code, by another program":            {commandguard.Options{Allow: list("python3 -c *")}, "/tmp/python3 -c 'eval'", chain.AskUser},
		"an allowed name lets no variable pass":       {commandguard.Options{Allow: list("git *")}, "LD_PRELOAD=x git status", chain.AskUser},
		"an allowed command lets no other pass":       {commandguard.Options{Allow: list("git *")}, "git $(rm -rf /)", chain.Deny},
		"undecidable is denied":                       {commandguard.Options{Undecidable: decision.Deny}, "$X", chain.Deny},
		"undecidable is allowed":                      {commandguard.Options{Undecidable: decision.Allow}, "$X", ""},
		"undecidable is allowed, a denial is not":     {commandguard.Options{Undecidable: decision.Allow}, "$X; rm -rf /", chain.Deny},
		"nothing is built in":                         {commandguard.Options{Defaults: &off}, "rm -rf /", ""},
		"nothing is built in, what is undecidable":    {commandguard.Options{Defaults: &off}, "$X", chain.AskUser},
		"otherwise ask":                               {commandguard.Options{Otherwise: decision.Ask}, "make", chain.AskUser},
		"otherwise ask, harmless":                     {commandguard.Options{Otherwise: decision.Ask}, "cd x && git status --short | grep x | wc -l", ""},
		"otherwise ask, harmless, written":            {commandguard.Options{Otherwise: decision.Ask}, "echo x > y", chain.AskUser},
		"otherwise ask, harmless with another name":   {commandguard.Options{Otherwise: decision.Ask}, "/tmp/ls", chain.AskUser},
		"otherwise ask, allowed":                      {commandguard.Options{Otherwise: decision.Ask, Allow: list("make *")}, "make test", ""},
		"otherwise deny":                              {commandguard.Options{Otherwise: decision.Deny}, "ls; make", chain.Deny},
		"otherwise deny, nothing built in":            {commandguard.Options{Otherwise: decision.Deny, Defaults: &off}, "ls", chain.Deny},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := judge(t, c.o, "Bash", c.command); got.Action != c.want {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

func TestTools(t *testing.T) {
	hook, err := commandguard.New(kind.Section{}, commandguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]chain.Action{
		`{"tool_name":"Read","tool_input":{"path":"/x"}}`:                                  "",
		`{"tool_name":"run_shell_command","tool_input":{"command":"rm -rf /"}}`:            chain.Deny,
		`{"tool_name":"shell","tool_input":{"command":["bash","-lc","rm -rf /"]}}`:         chain.Deny,
		`{"tool_name":"shell","tool_input":{"command":["rm","-rf","/"]}}`:                  chain.Deny,
		`{"tool_name":"ssh_exec","tool_input":{"command":"rm -rf /"}}`:                     chain.Deny,
		`{"tool_name":"mcp__host__run","tool_input":{"command":"rm -rf /"}}`:               chain.Deny,
		`{"tool_name":"mcp__host__run","tool_input":{"request":{"command":"rm -rf /"}}}`:   chain.Deny,
		`{"tool_name":"mcp__host__run","tool_input":{"command":"[\"rm\",\"-rf\",\"/\"]"}}`: chain.Deny,
		`{"tool_name":"Bash","tool_input":{"restart":true}}`:                               chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":{"line":"ls"}}}`:                      chain.AskUser,
		`{"tool_name":"PowerShell","tool_input":{"command":"ls"}}`:                         chain.AskUser,
		`{"tool_name":"cmd","tool_input":{"command":"dir"}}`:                               chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/"}`:                     "",
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf *"},"cwd":"/"}`:               chain.Deny,
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf ../*"},"cwd":"/home/eve"}`:    chain.Deny,
	} {
		got, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
		if err != nil || got.Action != want {
			t.Errorf("%s: %+v, %v; want %q", data, got, err, want)
		}
	}
	if got, err := hook.Handler(t.Context(), events.Event{Name: events.PromptSubmit, Data: json.RawMessage(`{"command":"rm -rf /"}`)}); err != nil || got.Action != "" {
		t.Errorf("another event: %+v, %v", got, err)
	}
	if r := commandguard.Builtin.Registration; r.OnFailure != chain.FailClosed || !r.ReplaySafe {
		t.Errorf("registration %+v", r)
	}
}

func TestWhatAPersonSees(t *testing.T) {
	got := judge(t, commandguard.Options{Timeout: 7}, "Bash", "$X AKIAIOSFODNN7EXAMPLE \x1b[2K"+strings.Repeat("a", 5000))
	if got.ApprovalTimeout == nil || *got.ApprovalTimeout != 7 || strings.Contains(got.ApprovalPrompt, "AKIA") || strings.Contains(got.ApprovalPrompt, "\x1b") || len(got.ApprovalPrompt) > 3000 {
		t.Errorf("%+v", got)
	}
	if !strings.HasPrefix(got.ApprovalPrompt, "Run this command?\n\n$X [REDACTED:aws-key] ") || !strings.Contains(got.ApprovalPrompt, "more characters, SHA-256 ") || !strings.Contains(got.ApprovalPrompt, ") …a") || !strings.Contains(got.ApprovalPrompt, "aaa\n\nAsked because: cannot decide: ") {
		t.Errorf("prompt %q", got.ApprovalPrompt)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]commandguard.Options{
		`/deny/1: the pattern " " is empty`:                              {Deny: []string{"a", " "}},
		`/ask/0: the pattern "a | b" is of one`:                          {Ask: []string{"a | b"}},
		`/allow/0: the pattern "-x" begins`:                              {Allow: []string{"-x"}},
		`/deny/0: the pattern "` + strings.Repeat("a ", 65) + `" has 65`: {Deny: []string{strings.Repeat("a ", 65)}},
		"/undecidable: must be allow":                                    {Undecidable: "maybe"},
		"/otherwise: must be allow":                                      {Otherwise: "maybe"},
		`/allow/0: the pattern "A=1 B=2" sets`:                           {Allow: []string{"A=1 B=2"}},
		"/timeout: must be a number":                                     {Timeout: -1},
	} {
		_, err := commandguard.New(kind.Section{}, o)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// Input that is typed later is not visible to the guard, so a program that runs it can't be
// decided. Neither can a line with a directory that its tool may ignore.
func TestWhatIsTypedLater(t *testing.T) {
	t.Parallel()
	hook, err := commandguard.New(kind.Section{}, commandguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]chain.Action{
		`{"tool_name":"Bash","tool_input":{"command":"bash"}}`:                                                 chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"sh -i"}}`:                                                chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"env python3"}}`:                                          chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"node"}}`:                                                 chain.AskUser,
		`{"tool_name":"Bash","tool_input":{"command":"bash --version; python3 -V; node -v"}}`:                  "",
		`{"tool_name":"Bash","tool_input":{"command":"bash build.sh; python3 x.py; python3 -m pytest"}}`:       "",
		`{"tool_name":"Bash","tool_input":{"command":"bash build.sh; echo ls | sh"}}`:                          "",
		`{"tool_name":"write_stdin","tool_input":{"session_id":1,"chars":"#; rm -rf ~\n"}}`:                    chain.AskUser,
		`{"tool_name":"write_stdin","tool_input":{"session_id":1,"chars":"rm -rf ~\n"}}`:                       chain.Deny,
		`{"tool_name":"write_stdin","tool_input":{"session_id":1,"chars":"\u0003"}}`:                           "",
		`{"tool_name":"write_bash","tool_input":{"sessionId":"1","chars":"\u0003","input":"rm -rf /{enter}"}}`: chain.Deny,
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf ../home/ann","workdir":"/repo/x"},"cwd":"/repo"}`: chain.AskUser,
	} {
		got, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
		if err != nil || got.Action != want {
			t.Errorf("%s: %q %s %v; want %q", data, got.Action, got.Reason, err, want)
		}
	}
}
