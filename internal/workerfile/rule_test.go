package workerfile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const ruled = `hooks:
  - id: rules
    events: [tool:pre]
    cel:
      rules:
        - when: data.tool_name == "Read"
          user_message: seen
        - when: data.tool_input.command.contains("rm")
          deny: no rm
  - id: commands
    builtin:
      command-guard:
        deny: [git push, make deploy]
        undecidable: deny
  - id: paths
    builtin: path-guard
  - id: paths-of-ours
    builtin:
      path-guard:
        deny:
          - /srv/a/**
          - /srv/b/**
  - id: policy
    builtin:
      approval-policy:
        default: allow
        rules:
          - {tools: [web], decision: ask}
          - {commands: [rm], decision: deny}
  - id: script
    events: [tool:pre]
    exec:
      command: [sh, -c, 'echo "{\"action\":\"deny\",\"reason\":\"no\"}"']
`

func TestAnswersNameTheirRule(t *testing.T) {
	file, err := workerfile.Parse("guards.yaml", []byte(ruled), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct{ hook, tool, input, want string }{
		{"rules", "Bash", `{"command":"rm x"}`, "guards.yaml:8 cel.rules[1]"},
		{"rules", "Read", `{"command":"cat"}`, "guards.yaml:6 cel.rules[0]"},
		{"rules", "Bash", `{"command":"ls"}`, ""},
		{"commands", "Bash", `{"command":"make deploy"}`, `guards.yaml:13 command-guard.deny[1] "make deploy"`},
		{"commands", "Bash", `{"command":"rm -rf /"}`, "guards.yaml:13 command-guard built in: it removes directories of the system or a whole home"},
		{"commands", "Bash", `{"command":"$X"}`, "guards.yaml:14 command-guard.undecidable"},
		{"commands", "Bash", `{"command":"ls"}`, ""},
		{"paths", "Read", `{"file_path":"/home/x/.ssh/id_rsa"}`, "guards.yaml:16 path-guard built in: ~/.ssh/**"},
		{"paths-of-ours", "Read", `{"file_path":"/srv/b/x"}`, `guards.yaml:22 path-guard.deny[1] "/srv/b/**"`},
		{"policy", "Bash", `{"command":"rm x"}`, "guards.yaml:29 approval-policy.rules[1]"},
		{"policy", "WebFetch", `{"url":"https://example.com"}`, "guards.yaml:28 approval-policy.rules[0]"},
		{"script", "Bash", `{"command":"ls"}`, "guards.yaml:33 exec"},
	} {
		got, err := answer(t, file, c.hook, `{"tool_name":"`+c.tool+`","tool_input":`+c.input+`}`)
		if got != c.want || err != nil {
			t.Errorf("%s, %s %s: %q, want %q; %v", c.hook, c.tool, c.input, got, c.want, err)
		}
	}
	if _, err := answer(t, file, "rules", `{"tool_name":"Bash"}`); err == nil || !strings.HasPrefix(err.Error(), "guards.yaml:8: cel.rules[1]") {
		t.Errorf("a failure says where it was: %v", err)
	}
}

func answer(t *testing.T, file *workerfile.File, hook, data string) (rule string, err error) {
	t.Helper()
	for _, h := range file.Hooks {
		if h.Registration.ID == hook {
			result, err := h.Named()(context.Background(), events.Event{Name: "tool:pre", Data: []byte(data)})
			return result.Rule, err
		}
	}
	t.Fatalf("there is no hook %s", hook)
	return "", nil
}

func TestTheNameOfAFileLeavesRoomForItsRule(t *testing.T) {
	file, err := workerfile.Parse("/"+strings.Repeat("deep/", 900)+"guards.yaml", []byte(ruled), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := answer(t, file, "rules", `{"tool_name":"Bash","tool_input":{"command":"rm x"}}`)
	if err != nil || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "deep/guards.yaml:8 cel.rules[1]") {
		t.Errorf("%q, %v", got, err)
	}
}
