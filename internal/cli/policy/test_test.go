package policy_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the command under test.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Test policy.TestCmd `cmd:""`
	}{})
}

func TestTestRunsWorkerFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	const file = `hooks:
  - {id: freeze, events: ["deploy:start"], on_failure: deny, cel: {rules: [{deny: "frozen \x1b[31m"}]}}
tests:
  - {name: nobody deploys, event: "deploy:start", expect: {action: deny}}
`
	for name, text := range map[string]string{
		"well.yaml": file, "wrong.yaml": strings.Replace(file, "action: deny", "action: continue", 1), "bad.yaml": "hooks: []\n",
		"events.jsonl": `{"event":"deploy:start","session_id":"s1"}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
	test := func(args ...string) clitest.Outcome {
		return f.With(cli.Process{Stdin: strings.NewReader(`{"event":"deploy:start"}`)}, append([]string{"test"}, args...)...)
	}
	test("--text", "well.yaml").Want(t, cli.ExitOK, "ok      well.yaml:4  nobody deploys\n1 test, 0 failed", "")
	test("--json", "well.yaml").Want(t, cli.ExitOK, `{"kind":"test","file":"well.yaml","line":4,"name":"nobody deploys","ok":true}`+"\n"+`{"kind":"summary","tests":1,"failed":0}`, "")
	test("--text", "--junit", "report.xml", "well.yaml", "wrong.yaml").Want(t, cli.ExitLocal, `
ok      well.yaml:4  nobody deploys
FAILED  wrong.yaml:4  nobody deploys
        action: want continue, got deny by freeze: frozen [31m
        - freeze: deny: frozen [31m (wrong.yaml:2, rules[0])
2 tests, 1 failed`, "hookctl: 1 of 2 failed")
	if text, err := os.ReadFile("report.xml"); err != nil || !strings.Contains(string(text), `tests="2" failures="1" errors="0"`) {
		t.Errorf("JUnit is %s, %v", text, err)
	}
	shown := ":1  deploy:start  %  deny by freeze: frozen [31m\n        - freeze: deny: frozen [31m (well.yaml:2, rules[0])\n1 event, 0 failed"
	test("--text", "--events", "events.jsonl", "well.yaml").Want(t, cli.ExitOK, "events.jsonl"+strings.Replace(shown, "%", "s1", 1), "")
	test("--text", "--events", "-", "well.yaml").Want(t, cli.ExitOK, "-"+strings.Replace(shown, "%", "-", 1), "")
	if o := test(); o.Code != cli.ExitLocal || !strings.Contains(o.Stderr, "there is no worker.yaml here") {
		t.Errorf("no file: %+v", o)
	}
	if err := os.WriteFile("worker.yaml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	test("--text").Want(t, cli.ExitOK, "ok      worker.yaml:4  nobody deploys\n1 test, 0 failed", "")
	if err := os.WriteFile("misspelt.yaml", []byte(strings.Replace(file, `["deploy:start"]`, `["deploy:start", "tool:prre"]`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--text"}, {"--json"}, {"--events", "events.jsonl"}} {
		if o := test(append(args, "misspelt.yaml")...); o.Code != cli.ExitOK || strings.Count(o.Stderr, "warning: misspelt.yaml:2:43: hooks[0].events[1]: there is no standard event tool:prre: did you mean tool:pre?") != 1 {
			t.Errorf("%s: %+v; want the warning of validate once", args, o)
		}
	}
	if o := test("bad.yaml"); o.Code != cli.ExitLocal || !strings.Contains(o.Stderr, "bad.yaml:1:8: hooks: the file has no hooks") {
		t.Errorf("a file that is wrong: %+v", o)
	}
}

// In a clone without a worker file, it runs the tests of the policies in the repository.
func TestTestRunsFromAClone(t *testing.T) {
	t.Chdir("../../..")
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
	got := f.Run("test")
	if got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "examples/policies/coding-agent.yaml:") || !strings.HasSuffix(got.Stdout, ", 0 failed\n") {
		t.Errorf("%+v", got)
	}
}
