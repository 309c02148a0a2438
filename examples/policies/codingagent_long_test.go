package policies_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestTheCodingAgentPolicyOnLongCalls: a call of a megabyte, or less at smoke volume, is
// judged like others, and soon.
func TestTheCodingAgentPolicyOnLongCalls(t *testing.T) {
	file, err := load("coding-agent.yaml")(kind.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	policy := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{})
	size := testkit.Volume(t, 256<<10, 1<<20, 1<<20)
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	for name, input := range map[string]map[string]any{
		"Bash":         {"command": fill("ls; ")},
		"shell":        {"command": []string{"bash", "-c", fill("echo 'a' | b; ")}},
		"apply_patch":  {"input": "*** Begin Patch\n" + fill("*** Update File: src/a.go\n@@\n-a\n+b\n") + "*** End Patch"},
		"Write":        {"file_path": "/repo/a", "content": fill("x = '`$(\n")},
		"NotebookEdit": {"notebook_path": "/repo/a.ipynb", "new_source": fill("a, b = 1\n")},
		"execute_code": {"code": fill("print('x')\n")},
		"mcp__a__get":  {"text": fill("select ' ")},
		"read_many":    {"paths": strings.Split(fill("src/a.go "), " ")},
		"Grep":         {"pattern": fill("(a|"), "path": "/repo"},
	} {
		data, err := json.Marshal(map[string]any{"tool_name": name, "tool_input": input, "cwd": "/repo"})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := policy.Decide(t.Context(), events.Event{ID: events.NewID(), Name: events.ToolPre, Session: "s1", Source: "test", Data: data}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		took := time.Since(begin)
		t.Logf("%s: %v", name, took)
		if took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// TestTheCodingAgentPolicyOnLongLines: the longest line that is read is judged soon, whatever it repeats.
func TestTheCodingAgentPolicyOnLongLines(t *testing.T) {
	file, err := load("coding-agent.yaml")(kind.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	policy := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{})
	for _, part := range []string{
		"for f in a; do cat $f; done; ", "A=b; cat $A; ", "for x in $(ls *.go | head); do cat $x; done; ", "sh -c 'cat $1' _ a b; ", "printf 'a' > f; python f; ",
		"python -c 'a=\"b\"'; ", "node -e 'const a=1'; ", "grep -l a b | while read -r f; do cat $f; done; ",
	} {
		line := strings.Repeat(part, (60<<10)/len(part))
		begin := time.Now()
		if _, err := policy.Decide(t.Context(), event(t, line)); err != nil {
			t.Errorf("%q: %v", part, err)
		}
		took := time.Since(begin)
		t.Logf("%q: %v", part, took)
		if took > 5*time.Second {
			t.Errorf("%q took %v", part, took)
		}
	}
}
