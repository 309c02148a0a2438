package policies_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookrouter/hookrouter/examples/policies"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestTheCodingAgentPolicyOnLists runs the lines of testdata/coding-agent through the policy, in
// the smallest tier those of every sixth list. A line is a command, in quotes where it has more
// lines, or the data of an event. Lists are kept whole, with what is decided wrongly.
func TestTheCodingAgentPolicyOnLists(t *testing.T) {
	t.Parallel()
	file, err := load("coding-agent.yaml")(kind.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	policy := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{})
	lists, err := filepath.Glob("testdata/coding-agent/*.txt")
	if err != nil || len(lists) < 4 {
		t.Fatalf("lists %q, %v", lists, err)
	}
	every := testkit.Volume(t, 6, 1, 1)
	var everydays, asked, others, passed atomic.Int64
	t.Cleanup(func() {
		t.Logf("of %d everyday lines %d are asked about; of %d others %d pass", everydays.Load(), asked.Load(), others.Load(), passed.Load())
		if asked.Load()*50 > everydays.Load() || passed.Load()*100 > others.Load()*3 {
			t.Error("want at most 2 and 3 %")
		}
	})
	for i, list := range lists {
		if i%every > 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(list), ".txt"), func(t *testing.T) {
			t.Parallel()
			everyday := strings.HasPrefix(filepath.Base(list), "everyday")
			counts := map[chain.Action]int{}
			lines := 0
			for _, line := range linesOf(t, list) {
				ev := event(t, line)
				out, err := policy.Decide(t.Context(), ev)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				lines++
				decided := out.Decision(ev.Data)
				counts[decided.Action]++
				if held := decided.Action == chain.Deny || decided.Action == chain.AskUser; held == everyday {
					t.Logf("%s: %s (%s)", line, decided.Action, decided.Reason)
				}
			}
			held := counts[chain.Deny] + counts[chain.AskUser]
			t.Logf("%d lines: %d denied, %d asked, %d pass", lines, counts[chain.Deny], counts[chain.AskUser], lines-held)
			switch {
			case everyday:
				everydays.Add(int64(lines))
				asked.Add(int64(counts[chain.AskUser]))
				if counts[chain.Deny] > 0 {
					t.Errorf("of %d everyday lines %d are denied; want none", lines, counts[chain.Deny])
				}
			default:
				others.Add(int64(lines))
				passed.Add(int64(lines - held))
			}
		})
	}
}

func linesOf(t testing.TB, path string) (lines []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		if line := in.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// event is a line as an agent in /repo asks about it.
func event(t testing.TB, line string) events.Event {
	t.Helper()
	ev := events.Event{ID: events.NewID(), Name: events.ToolPre, Session: "s1", Source: "test", Data: json.RawMessage(line)}
	if strings.HasPrefix(line, `{"`) {
		return ev
	}
	command := line
	if strings.HasPrefix(line, `"`) {
		if err := json.Unmarshal([]byte(line), &command); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}, "cwd": "/repo"})
	if err != nil {
		t.Fatal(err)
	}
	ev.Data = data
	return ev
}

// TestTheDeployedPolicyIsThis: the manifests have a copy, since they take no file from elsewhere.
func TestTheDeployedPolicyIsThis(t *testing.T) {
	t.Parallel()
	deployed, err := os.ReadFile("../../deploy/k8s/base/policy/worker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(policies.CodingAgent), "\nhooks:\n")
	if _, got, _ := strings.Cut(string(deployed), "\nhooks:\n"); got != want {
		t.Error("deploy/k8s/base/policy/worker.yaml differs: grep -v yaml-language-server coding-agent.yaml makes it anew")
	}
}
