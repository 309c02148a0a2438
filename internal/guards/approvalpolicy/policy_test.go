package approvalpolicy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/guards/approvalpolicy"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := approvalpolicy.New(kind.Section{}, approvalpolicy.Options{Rules: []approvalpolicy.Rule{
		{Tools: []string{"shell"}, Commands: []string{"go test *"}, Decision: decision.Allow},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{"go test ./...", "go test ./... | sh"} {
		result, err := hook.Handler(context.Background(), events.Event{
			Name: events.ToolPre, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"` + command + `"}}`),
		})
		fmt.Println(result.Action == chain.AskUser, err)
	}
	// Output:
	// false <nil>
	// true <nil>
}

func decide(t *testing.T, o approvalpolicy.Options, data string) chain.Result {
	t.Helper()
	hook, err := approvalpolicy.New(kind.Section{}, o)
	if err != nil {
		t.Fatal(err)
	}
	result, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const (
	allow = decision.Allow
	deny  = decision.Deny
	ask   = decision.Ask
)

type rule = approvalpolicy.Rule

func call(tool, member, value string) string {
	data, err := json.Marshal(map[string]any{"tool_name": tool, "tool_input": map[string]any{member: value}, "cwd": "/repo"})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestRules(t *testing.T) {
	list := func(s ...string) []string { return s }
	for sentence, c := range map[string]struct {
		rules []rule
		data  string
		want  chain.Action // of a policy whose default is deny for allow rules, otherwise allow
	}{
		"a class":                           {[]rule{{Tools: list("shell"), Decision: allow}}, call("Bash", "command", "x"), ""},
		"another class":                     {[]rule{{Tools: list("file"), Decision: allow}}, call("Bash", "command", "x"), chain.Deny},
		"a class that is guessed":           {[]rule{{Tools: list("shell"), Decision: allow}}, call("ssh_exec", "command", "x"), chain.Deny},
		"a class that is guessed, denied":   {[]rule{{Tools: list("shell"), Decision: deny}}, call("ssh_exec", "command", "x"), chain.Deny},
		"a glob":                            {[]rule{{Tools: list("mcp__github__*"), Decision: allow}}, call("mcp__github__get", "x", "y"), ""},
		"another case is not allowed":       {[]rule{{Tools: list("Read"), Decision: allow}}, call("READ", "file_path", "/x"), chain.Deny},
		"another case is denied":            {[]rule{{Tools: list("Read"), Decision: deny}}, call("READ", "file_path", "/x"), chain.Deny},
		"the first rule wins":               {[]rule{{Tools: list("Bash"), Decision: ask}, {Decision: deny}}, call("Bash", "command", "x"), chain.AskUser},
		"a command":                         {[]rule{{Commands: list("go test *"), Decision: allow}}, call("Bash", "command", "go test ./..."), ""},
		"a command that leads out":          {[]rule{{Commands: list("cat /repo/*"), Decision: allow}}, call("Bash", "command", "cat /repo/../etc/shadow"), chain.Deny},
		"a command that leads out, denied":  {[]rule{{Commands: list("cat /repo/*"), Decision: deny}}, call("Bash", "command", "cat /repo/../etc/shadow"), chain.Deny},
		"each command has to be allowed":    {[]rule{{Commands: list("go test *"), Decision: allow}}, call("Bash", "command", "go test; rm x"), chain.Deny},
		"one within is enough to ask":       {[]rule{{Commands: list("rm"), Decision: ask}}, call("Bash", "command", "ls $(sudo rm x)"), chain.AskUser},
		"a redirection is not allowed":      {[]rule{{Commands: list("echo *"), Decision: allow}}, call("Bash", "command", "echo x > y"), chain.Deny},
		"a variable that runs something":    {[]rule{{Commands: list("echo *"), Decision: allow}}, call("Bash", "command", "BASH_ENV=x echo y"), chain.Deny},
		"a variable that is not harmless":   {[]rule{{Commands: list("git status"), Decision: allow}}, call("Bash", "command", "GIT_CEILING_DIRECTORIES=/ git status"), chain.Deny},
		"a harmless variable":               {[]rule{{Commands: list("git status"), Decision: allow}}, call("Bash", "command", "NO_COLOR=1 git status"), ""},
		"a variable that stands alone":      {[]rule{{Commands: list("git status"), Decision: allow}}, call("Bash", "command", "A=1; git status"), chain.Deny},
		"a variable of the line's own":      {[]rule{{Commands: list("git *"), Decision: allow}}, call("Bash", "command", "a=$(git rev-parse HEAD); git show \"$a\""), ""},
		"an address with a password":        {[]rule{{URLs: list("example.com"), Decision: allow}}, call("WebFetch", "url", "https://u:p@example.com/"), chain.Deny},
		"what can't be read is not allowed": {[]rule{{Commands: list("echo *"), Decision: allow}}, call("Bash", "command", "echo 'x"), chain.Deny},
		"a name that can't be read, denied": {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", "$X y"), chain.AskUser},
		"a name that a command prints":      {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", "$(echo rm) -rf /"), chain.AskUser},
		"a name that is a quoted variable":  {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", `ls; "${CMD}"`), chain.AskUser},
		"a name that is a pattern":          {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", "/bin/r? x"), chain.AskUser},
		"code of another language, denied":  {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", "python3 -c eval"), chain.AskUser},
		"a line that can't be read, denied": {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", "rm 'x"), chain.AskUser},
		"no command that can be read":       {[]rule{{Commands: list("rm"), Decision: deny}}, `{"tool_name":"Bash","tool_input":{"command":{"line":"rm"}}}`, chain.AskUser},
		"no path that can be read":          {[]rule{{Paths: list("/a/**"), Decision: deny}}, `{"tool_name":"Write","tool_input":{"where":"/a"}}`, chain.AskUser},
		"what can be read, denied":          {[]rule{{Commands: list("rm"), Decision: deny}}, call("Bash", "command", "ls | head; echo $X"), ""},
		"it may be one, and is another":     {[]rule{{Commands: list("rm"), Decision: ask}, {Commands: list("ls"), Decision: deny}}, call("Bash", "command", "$X; ls"), chain.Deny},
		"it may be one, and is allowed":     {[]rule{{Commands: list("rm"), Decision: deny}, {Tools: list("shell"), Decision: allow}}, call("Bash", "command", "$X"), chain.AskUser},
		"it may be one, and all are denied": {[]rule{{Commands: list("rm"), Decision: ask}, {Decision: deny}}, call("Bash", "command", "$X"), chain.Deny},
		"what can't be read is asked about": {[]rule{{Commands: list("rm"), Decision: ask}}, call("Bash", "command", "$X y"), chain.AskUser},
		"a path":                            {[]rule{{Paths: list("/repo/**"), Decision: allow}}, call("Read", "file_path", "a/b"), ""},
		"a path that leads out":             {[]rule{{Paths: list("/repo/**"), Decision: allow}}, call("Read", "file_path", "../b"), chain.Deny},
		"a path that is denied":             {[]rule{{Paths: list("**/*.KEY"), Decision: deny}}, call("Read", "file_path", "x/../a.key"), chain.Deny},
		"a path says nothing of a command":  {[]rule{{Paths: list("/**"), Decision: allow}}, call("Bash", "command", "cat /x"), chain.Deny},
		"an address":                        {[]rule{{URLs: list("https://*.example.com/*"), Decision: allow}}, call("WebFetch", "url", "https://a.example.com:443/x?y"), ""},
		"a host in a path":                  {[]rule{{URLs: list("https://*.example.com/*"), Decision: allow}}, call("WebFetch", "url", "https://evil/?.example.com/x"), chain.Deny},
		"a host in a name":                  {[]rule{{URLs: list("https://*.example.com/*"), Decision: allow}}, call("WebFetch", "url", "https://a.example.com@evil/x"), chain.Deny},
		"another port":                      {[]rule{{URLs: list("example.com"), Decision: allow}}, call("WebFetch", "url", "http://example.com:8080/"), chain.Deny},
		"a host alone":                      {[]rule{{URLs: list("example.com"), Decision: allow}}, call("WebFetch", "url", "http://Example.com"), ""},
		"a way around in a path":            {[]rule{{URLs: list("https://h/a/*"), Decision: allow}}, call("WebFetch", "url", "https://h/a/%2e%2e/b"), chain.Deny},
		"an address without a scheme":       {[]rule{{URLs: list("*.evil.com"), Decision: deny}}, call("WebFetch", "url", "www.EVIL.com./x"), chain.Deny},
		"an address of one slash":           {[]rule{{URLs: list("*.evil.com"), Decision: deny}}, call("WebFetch", "url", "http:/www.evil.com/x"), chain.Deny},
		"an address of slashes alone":       {[]rule{{URLs: list("*.evil.com"), Decision: deny}}, call("WebFetch", "url", "//www.evil.com/x"), chain.Deny},
		"an address in other letters":       {[]rule{{URLs: list("169.254.*"), Decision: deny}}, call("WebFetch", "url", "http://①⑥⑨。254.169.254/"), chain.Deny},
		"a host behind a backslash and @":   {[]rule{{URLs: list("evil.com"), Decision: deny}}, call("WebFetch", "url", `http://a.com\@evil.com/`), chain.Deny},
		"a host before a backslash and @":   {[]rule{{URLs: list("evil.com"), Decision: deny}}, call("WebFetch", "url", `http://evil.com\@a.com/`), chain.Deny},
		"an address that can't be read":     {[]rule{{URLs: list("evil.com"), Decision: deny}}, call("WebFetch", "url", "http://[evil"), chain.Deny},
		"an input that can't be read":       {[]rule{{Tools: list("file"), Paths: list("/**"), Decision: allow}}, `{"tool_name":"Read","tool_input":{"path":"/a","file":7}}`, chain.Deny},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := approvalpolicy.Options{Rules: c.rules, Default: allow}
			if c.rules[0].Decision == allow {
				o.Default = deny
			}
			if got := decide(t, o, c.data); got.Action != c.want {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

func TestTheDefaultIsToAsk(t *testing.T) {
	got := decide(t, approvalpolicy.Options{}, call("Bash", "command", "deploy --key AKIAIOSFODNN7EXAMPLE"))
	if got.Action != chain.AskUser || got.ApprovalDefault != "" || got.ApprovalTimeout != nil {
		t.Errorf("%+v", got)
	}
	want := "Allow Bash: deploy --key [REDACTED:aws-key]?\n\nAsked because: no rule of the approval policy is about this call of Bash"
	if diff := cmp.Diff(want, got.ApprovalPrompt); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
	if r := approvalpolicy.Builtin.Registration; r.OnFailure != chain.FailClosed || !r.ReplaySafe {
		t.Errorf("registration %+v", r)
	}
}

func TestAToolWithoutAName(t *testing.T) {
	got := decide(t, approvalpolicy.Options{}, `{"tool_input":{"command":"ls"}}`)
	want := "Allow a tool that the event doesn't name: ls?\n\nAsked because: no rule of the approval policy is about this call of a tool that the event doesn't name"
	if diff := cmp.Diff(want, got.ApprovalPrompt); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeDecidedSaysSo(t *testing.T) {
	got := decide(t, approvalpolicy.Options{Default: allow, Rules: []rule{{Tools: []string{"web"}, Decision: deny}, {Commands: []string{"rm"}, Decision: deny, Reason: "files stay", Timeout: 7}}}, call("Bash", "command", "$X y"))
	if want := "cannot decide whether this is what rule 2 of the approval policy denies (files stay)"; got.Reason != want || got.ApprovalTimeout == nil || *got.ApprovalTimeout != 7 {
		t.Errorf("%+v, want %q", got, want)
	}
}

func TestWhatAPersonIsOffered(t *testing.T) {
	got := decide(t, approvalpolicy.Options{Timeout: 9, Rules: []rule{{Decision: ask, Reason: "because", Choices: []string{"Allow once", "Deny"}}}}, call("X", "a", "b"))
	if got.Reason != "because" || len(got.ApprovalOptions) != 2 || got.ApprovalTimeout == nil || *got.ApprovalTimeout != 9 {
		t.Errorf("%+v", got)
	}
	got = decide(t, approvalpolicy.Options{Rules: []rule{{Decision: deny, Reason: "because"}}}, call("X", "a", "b"))
	want := chain.Denial("because")
	want.Rule = "/rules/0"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOtherEventsPass(t *testing.T) {
	hook, err := approvalpolicy.New(kind.Section{}, approvalpolicy.Options{Default: deny})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hook.Handler(t.Context(), events.Event{Name: events.PromptSubmit, Data: json.RawMessage(`{}`)}); err != nil || got.Action != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]approvalpolicy.Options{
		"/default: must be":              {Default: "maybe"},
		"/rules/0/decision: the rule":    {Rules: []rule{{}}},
		"/rules/0/decision: must be":     {Rules: []rule{{Decision: "no"}}},
		"/rules/1/tools/0: is empty":     {Rules: []rule{{Decision: deny}, {Decision: deny, Tools: []string{" "}}}},
		"/rules/0/commands/0: the":       {Rules: []rule{{Decision: deny, Commands: []string{"a | b"}}}},
		"/rules/0/paths/0: the pattern":  {Rules: []rule{{Decision: deny, Paths: []string{"a/b"}}}},
		"/rules/0/urls/0: the pattern":   {Rules: []rule{{Decision: deny, URLs: []string{"https:///x"}}}},
		"/rules/0/options: are only for": {Rules: []rule{{Decision: deny, Choices: []string{"a"}}}},
		"/rules/0/options: can't":        {Rules: []rule{{Decision: ask, Choices: []string{"a", "A"}}}},
		"/timeout: must be":              {Timeout: -1},
		"/rules: has 1001":               {Rules: make([]rule, 1001)},
	} {
		_, err := approvalpolicy.New(kind.Section{}, o)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
