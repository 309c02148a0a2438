package integration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// threeHops are the hooks of three workers, each a process of its own.
var threeHops = map[string]string{
	"marker":  "priority: -10, cel: {rules: [{modify: {set: {marked: 'true'}}}]}",
	"careful": "priority: 20, cel: {rules: [{when: data.tool_name == 'Deploy', ask: {prompt: Deploy?, options: [Allow, Deny]}}]}",
	"guard":   "priority: 30, on_failure: deny, cel: {rules: [{when: data.tool_name == 'Bash', deny: no shell}]}",
}

// The turn of an agent, through three workers, an approval and a denial, as a true
// Jaeger shows it.
func TestJaegerShowsATurn(t *testing.T) {
	j := startJaeger(t)
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/", "../../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", j.otlp) // for all processes from here on
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	r := startRouter(t, filepath.Join(dir, "hook-router"), natstest.StoreDir(t), "127.0.0.1:0", "")
	for id, hook := range threeHops {
		startHookWorker(t, filepath.Join(dir, "hook-worker"), r.url, id, "hooks: [{id: "+id+", events: ['tool:pre'], "+hook+"}]")
	}
	ctx := testkit.Within(t, time.Minute)
	a := startAgent(t, r.url)
	asked, answered := approve(t, ctx, r.conn(t))
	turn := a.done(t)

	traces := j.settled(t, ctx, turn)
	t.Run("one trace", func(t *testing.T) { oneTrace(t, traces) })
	trace := traces["coding-agent"][0]
	t.Run("tree", func(t *testing.T) {
		if d := diff.Diff(treeOfTheTurn, trace.tree()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
	t.Run("processes", func(t *testing.T) { threeWorkers(t, trace) })
	t.Run("timing", func(t *testing.T) { inTime(t, trace, asked, answered) })
	t.Run("the decision", func(t *testing.T) { decisionIsLinked(t, trace, traces["hook-router"]) })
	t.Run("hookctl", func(t *testing.T) { tracedByHookctl(t, filepath.Join(dir, "hookctl"), j.api, r.url, turn) })
}

// treeOfTheTurn has a line for each span: its name, its service, and its tags.
const treeOfTheTurn = `turn [coding-agent]
  execute tool:pre [coding-agent] action=continue denied_by= hooks=3
    hooks.execute tool:pre [hook-router] action=pending denied_by= hooks=3
      approval careful [hook-router] action=continue decided=true timed_out=false
      audit append [hook-router]
      call careful [hook-router] action=ask_user priority=20 mode=enforce
        hook careful [hook-worker] action=ask_user mode=enforce
      call guard [hook-router] action=continue priority=30 mode=enforce
        hook guard [hook-worker] action=continue mode=enforce
      call marker [hook-router] action=modify priority=-10 mode=enforce
        hook marker [hook-worker] action=modify mode=enforce
  execute tool:pre [coding-agent] action=deny denied_by=guard hooks=3
    hooks.execute tool:pre [hook-router] action=deny denied_by=guard hooks=3
      audit append [hook-router]
      call careful [hook-router] action=continue priority=20 mode=enforce
        hook careful [hook-worker] action=continue mode=enforce
      call guard [hook-router] action=deny priority=30 mode=enforce
        hook guard [hook-worker] action=deny mode=enforce
      call marker [hook-router] action=modify priority=-10 mode=enforce
        hook marker [hook-worker] action=modify mode=enforce
`

// oneTrace: whichever service is asked for, there is this one; and beside it, as
// docs/telemetry.md says, the decision's.
func oneTrace(t *testing.T, traces map[string][]*jaegerTrace) {
	id := traces["coding-agent"][0].ID
	for service, list := range traces {
		for _, one := range list {
			if one.ID == id || service == "hook-router" && len(one.Spans) == 1 && one.Spans[0].Name == "decide careful" {
				continue
			}
			t.Errorf("%s has spans in the trace %s too:\n%s", service, one.ID, one.tree())
		}
	}
	if got := slices.Sorted(maps.Keys(traces)); !slices.Equal(got, []string{"coding-agent", "hook-router", "hook-worker"}) {
		t.Errorf("Jaeger knows the services %q", got)
	}
}

func threeWorkers(t *testing.T, trace *jaegerTrace) {
	where := map[string]string{}
	for i := range trace.Spans {
		if s := &trace.Spans[i]; strings.HasPrefix(s.Name, "hook ") {
			where[s.Name] = s.process["service.instance.id"]
		}
	}
	want := map[string]string{"hook marker": "worker-marker", "hook careful": "worker-careful", "hook guard": "worker-guard"}
	if d := diff.Diff(want, where); d != "" {
		t.Error(d)
	}
}

// clocks is how far the times of two processes of one machine may be apart: routers
// keep the time of an approval request in milliseconds.
const clocks = 2 * time.Millisecond

func inTime(t *testing.T, trace *jaegerTrace, asked, answered time.Time) {
	for i := range trace.Spans {
		s := &trace.Spans[i]
		above := trace.parent(s)
		outlives := strings.HasPrefix(s.Name, "approval ") // its event
		if above != nil && (s.start().Before(above.start().Add(-clocks)) || !outlives && s.end().After(above.end().Add(clocks))) {
			t.Errorf("%s from %v to %v is not within %s from %v to %v", s.Name, s.start(), s.end(), above.Name, above.start(), above.end())
		}
		if outlives && (s.start().After(asked.Add(clocks)) || s.end().Before(answered.Add(-clocks))) {
			t.Errorf("the wait from %v to %v does not cover the time from %v to %v, in which a person thought", s.start(), s.end(), asked, answered)
		}
	}
	for _, event := range trace.named("hooks.execute tool:pre") {
		var calls []*jaegerSpan
		for _, s := range trace.below(event) {
			if strings.HasPrefix(s.Name, "call ") {
				calls = append(calls, s)
			}
		}
		slices.SortFunc(calls, func(a, b *jaegerSpan) int { return cmp.Compare(a.Start, b.Start) })
		names := ""
		for i, s := range calls {
			names += s.Name + ";"
			if i > 0 && s.start().Before(calls[i-1].end()) {
				t.Errorf("%s begins before %s is over", s.Name, calls[i-1].Name)
			}
		}
		if names != "call marker;call careful;call guard;" {
			t.Errorf("the hooks were called in the order %s", names)
		}
	}
}

func decisionIsLinked(t *testing.T, trace *jaegerTrace, of []*jaegerTrace) {
	wait := trace.named("approval careful")[0]
	for _, one := range of {
		for _, s := range one.named("decide careful") {
			if len(s.References) == 1 && s.References[0].SpanID == wait.ID && s.tag("approval.id") == wait.tag("approval.id") {
				return
			}
			t.Errorf("the decision refers to %v, the wait is %s", s.References, wait.ID)
		}
	}
	t.Error("the decision has no span with a link to the wait for it")
}

// tracedByHookctl compares what hookctl shows of each chain with the tree.
func tracedByHookctl(t *testing.T, program, api, url string, turn agentTurn) {
	for source, env := range map[string]string{"jaeger": api, "audit": ""} {
		for i, chain := range turn.Chains {
			run := func(args ...string) []byte {
				cmd := exec.CommandContext(t.Context(), program, append([]string{"trace", chain}, args...)...)
				cmd.Env = append(os.Environ(), "NATS_URL="+url, "HOOK_ROUTER_JAEGER="+env, "HOME="+t.TempDir())
				var complaint bytes.Buffer
				cmd.Stderr = &complaint
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s, chain %d: %v\n%s", source, i, err, complaint.String())
				}
				return out
			}
			var doc struct {
				Source string
				Spans  []struct {
					Depth int
					Name  string
					Tags  map[string]string
				}
			}
			if err := json.Unmarshal(run("--json"), &doc); err != nil {
				t.Fatal(err)
			}
			got, waits := "", "" // of which only the calls' order is exact
			for _, s := range doc.Spans {
				switch first, _, _ := strings.Cut(s.Name, " "); first {
				case "call":
					got += s.Name + " " + s.Tags["hookrouter.action"] + "; "
				case "approval":
					waits += s.Name + " " + s.Tags["hookrouter.action"] + "; "
				}
			}
			got += waits
			want := []string{
				"call marker modify; call careful ask_user; call guard continue; approval careful continue; ",
				"call marker modify; call careful continue; call guard deny; ",
			}[i]
			if got != want || doc.Source != source {
				t.Errorf("%s, chain %d: %s", doc.Source, i, got)
			}
			t.Logf("%s, chain %d:\n%s", source, i, run("--text"))
		}
	}
	out, err := exec.CommandContext(t.Context(), program, "trace", "--trace-id", turn.Trace, "--jaeger", api, "--json").Output()
	if err != nil || strings.Count(string(out), `"depth":`) != strings.Count(treeOfTheTurn, "\n") {
		t.Errorf("the whole trace: %v %s", err, out)
	}
}
