package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// says waits until the text stands in the log.
func says(t *testing.T, stderr *log, text string) {
	t.Helper()
	select {
	case <-stderr.has(text):
	case <-time.After(20 * time.Second):
		t.Fatalf("it did not say %q:\n%s", text, stderr)
	}
}

// replace writes a file as editors do: a new one in the place of the old.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+"~", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+"~", file); err != nil {
		t.Fatal(err)
	}
}

// reasons are why each event is denied, empty where it is not.
func reasons(t *testing.T, a *agent.Agent, events ...string) (all []string) {
	t.Helper()
	for _, event := range events {
		answer, err := a.Emit(t.Context(), event, nil)
		if err != nil || answer.FailedOpen != nil {
			t.Fatalf("on %s: %+v, %v", event, answer, err)
		}
		all = append(all, answer.Reason)
	}
	return all
}

func denying(ids ...string) string {
	text := "hooks:\n"
	for _, id := range ids {
		id, reason, _ := strings.Cut(id, "=")
		text += fmt.Sprintf("  - {id: %s, events: [%s], cel: {rules: [{deny: %s}]}}\n", id, id, reason)
	}
	return text
}

func TestTheFileIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	url := listen(t)
	file := write(t, denying("a=one", "b=one", "c=one"))
	stderr, _ := start(t, url, file)
	a := connect(t, url)
	if got := fmt.Sprint(reasons(t, a, "a", "b", "c", "d")); got != "[one one one ]" {
		t.Errorf("first: %s", got)
	}
	replace(t, file, denying("a=one", "b=two", "d=two"))
	says(t, stderr, `"msg":"reloaded","file":"`+file+`","changes":"1 changed, 1 new, 1 removed"`)
	if got := fmt.Sprint(reasons(t, a, "a", "b", "c", "d")); got != "[one two  two]" {
		t.Errorf("then: %s", got)
	}
	replace(t, file, "nats: {url: \"nats://127.0.0.1:1\"}\n"+denying("a=two")) // --nats-url wins
	says(t, stderr, "1 changed, 2 removed")
	if got := fmt.Sprint(reasons(t, a, "a", "b", "c", "d")); got != "[two   ]" {
		t.Errorf("at last: %s", got)
	}
}

// What is wrong is said with its place, and changes nothing.
func TestAFileThatIsWrongChangesNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		denying("a=one", "b=three") + "    - x\n":                 "worker.yaml:4:",
		strings.Replace(denying("a=three"), "events", "evnts", 1): `2:13: hooks[0]: unknown key \"evnts\"`,
		"nats: {prefix: other}\n" + denying("a=three"):            "restart the worker",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			url := listen(t)
			file := write(t, denying("a=one", "b=two"))
			stderr, _ := start(t, url, file)
			a := connect(t, url)
			replace(t, file, text)
			says(t, stderr, want)
			if n := strings.Count(stderr.String(), "reload failed; keeping the previous hooks"); n != 1 {
				t.Errorf("%d errors; want 1:\n%s", n, stderr)
			}
			if got := fmt.Sprint(reasons(t, a, "a", "b", "c")); got != "[one two ]" {
				t.Errorf("after a bad file: %s", got)
			}
			replace(t, file, denying("a=one", "b=four"))
			says(t, stderr, `"msg":"reloaded"`)
			if got := fmt.Sprint(reasons(t, a, "a", "b", "c")); got != "[one four ]" {
				t.Errorf("after a good one: %s", got)
			}
		})
	}
}

// Who watches hears that a policy could not be loaded, and why.
func TestAPolicyThatCannotBeLoadedIsAnEvent(t *testing.T) {
	t.Parallel()
	url := listen(t)
	file := write(t, denying("a=one"))
	start(t, url, file)
	nc := natstest.Dial(t, url)
	watch, err := nc.SubscribeSync("hooks.event.module.load_failed")
	if err != nil || nc.Flush() != nil {
		t.Fatal(err)
	}
	replace(t, file, strings.Replace(denying("a=two"), "events", "evnts", 1))
	m, err := watch.NextMsgWithContext(testkit.Within(t, testkit.Patience))
	if err != nil {
		t.Fatal(err)
	}
	var got events.ModuleLoadFailedData
	if err := json.Unmarshal(m.Data, &got); err != nil || got.ModuleType != "policy" || got.ModuleID != filepath.Base(file) || !strings.Contains(got.Error, "unknown key") {
		t.Errorf("%s, %v", m.Data, err)
	}
}

func TestAWarningIsToldWhenItsHookChanges(t *testing.T) {
	t.Parallel()
	url := listen(t)
	text := func(ofA, other string) string {
		return "hooks:\n  - {id: a, events: ['tool:per'], on_failure: continue, cel: {rules: [{deny: " + ofA + "}]}}\n  - {id: " + other + ", events: [x], cel: {rules: [{deny: x}]}}\n"
	}
	file := write(t, text("one", "b"))
	stderr, _ := start(t, url, file)
	for _, step := range []struct {
		ofA, other string
		report     int
	}{{"one", "c", 1}, {"two", "d", 2}, {"two", "e", 2}} {
		replace(t, file, text(step.ofA, step.other))
		says(t, stderr, `"new":"`+step.other+`"`)
		if n := strings.Count(stderr.String(), "there is no standard event tool:per"); n != step.report {
			t.Errorf("with %s: told %d times; want %d:\n%s", step.other, n, step.report, stderr)
		}
	}
}

func TestARefusedHookIsReportedWithItsPlace(t *testing.T) {
	t.Parallel()
	url := listen(t)
	file := write(t, denying("a=one", "b=one"))
	stderr, _ := start(t, url, file)
	w, err := worker.New(natstest.Client(t, hookrouter.Options{URL: url}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(t.Context()) }()
	if _, err := w.Register(t.Context(), chain.Registration{ID: "theirs", Events: []string{"x"}, Version: "2.0.0"},
		func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }); err != nil {
		t.Fatal(err)
	}
	replace(t, file, denying("a=two", "c=two")+"  - {id: b, events: [d], cel: {rules: [{deny: two}]}}\n  - {id: theirs, version: 1.0.0, events: [a], cel: {rules: [{deny: two}]}}\n")
	says(t, stderr, `"level":"ERROR","msg":"reload failed; keeping the previous hooks","file":"`+file+`","error":"`+file+`:5:10: hooks[3]: register hook theirs: `)
	if got := fmt.Sprint(reasons(t, connect(t, url), "a", "b", "c", "d")); got != "[one one  ]" {
		t.Errorf("then: %s", got)
	}
}

func TestASignalReadsTheFileAgainAndAnotherChangesTheLevelOfTheLog(t *testing.T) {
	t.Parallel()
	url := listen(t)
	hangup, user1 := make(chan os.Signal), make(chan os.Signal)
	file := write(t, denying("a=one"))
	stderr, _ := startIn(t, process{signals: signals.Signals{Reload: hangup, Level: user1}}, url, file)
	hangup <- syscall.SIGHUP
	says(t, stderr, `"msg":"reloaded","file":"`+file+`","changes":"nothing changed"`)
	user1 <- syscall.SIGUSR1
	says(t, stderr, `"to":"DEBUG","signal":`)
	if strings.Contains(stderr.String(), "to=DEBUG signal=hangup") {
		t.Errorf("SIGHUP changes the level:\n%s", stderr)
	}
}

func TestACallUnderWayIsAnsweredByTheHookThatTookIt(t *testing.T) {
	t.Parallel()
	running, release := pipe(t), pipe(t)
	url := listen(t)
	file := write(t, `
hooks:
  - id: slow
    events: [a]
    timeout_ms: 20000
    exec:
      command: [sh, -c, 'echo > "$1"; read -r line < "$2"; echo "{\"action\":\"deny\",\"reason\":\"slow\"}"', sh, `+running.Name()+`, `+release.Name()+`]
`)
	stderr, _ := start(t, url, file)
	a := connect(t, url)
	answered := make(chan string, 1)
	go func() {
		got, err := a.Emit(context.Background(), "a", nil)
		if err != nil {
			t.Errorf("Emit: %v", err)
		}
		answered <- got.Reason
	}()
	if _, err := running.Read(make([]byte, 1)); err != nil {
		t.Fatalf("wait for the command to run: %v", err)
	}
	replace(t, file, "hooks: [{id: other, events: [b], cel: {rules: [{deny: other}]}}]")
	says(t, stderr, "1 new, 1 removed")
	if got := fmt.Sprint(reasons(t, a, "a", "b")); got != "[ other]" {
		t.Errorf("then: %s", got)
	}
	if _, err := release.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got != "slow" {
		t.Errorf("the call that was taken was answered with %q", got)
	}
}

func TestAFileThatIsNewInADirectoryOfPoliciesIsNoticed(t *testing.T) {
	t.Parallel()
	url := listen(t)
	dir := t.TempDir()
	policies := filepath.Join(dir, "policies")
	if err := os.MkdirAll(filepath.Join(policies, "more"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(policies, name), []byte("package hooks\n\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a.rego", `deny contains "one" if input.event == "a"`)
	file := filepath.Join(dir, "worker.yaml")
	if err := os.WriteFile(file, []byte("hooks:\n  - {id: policy, events: [a, b], rego: {files: [policies]}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stderr, _ := start(t, url, file)
	a := connect(t, url)
	if got := fmt.Sprint(reasons(t, a, "a", "b")); got != "[one ]" {
		t.Errorf("first: %s", got)
	}
	put("more/b.rego", `deny contains "two" if`)
	says(t, stderr, "reload failed")
	put("more/b.rego", `deny contains "two" if input.event == "b"`)
	says(t, stderr, `"msg":"reloaded","file":"`+file+`","changes":"1 changed"`)
	if got := fmt.Sprint(reasons(t, a, "a", "b")); got != "[one two]" {
		t.Errorf("then: %s", got)
	}
}

// TestFailedReloadIsLoggedAndMeasured: in the log for as long as it is so, and in the metrics.
func TestFailedReloadIsLoggedAndMeasured(t *testing.T) {
	var mu sync.Mutex // guards sent
	sent := map[string]int64{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var export colmetricspb.ExportMetricsServiceRequest
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = proto.Unmarshal(body, &export)
		}
		if err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range export.GetResourceMetrics() {
			if !strings.Contains(resource.GetResource().String(), "service.instance.id") {
				t.Errorf("nobody knows whose metrics these are: %s", resource.GetResource())
			}
			for _, m := range resource.GetScopeMetrics()[0].GetMetrics() {
				for _, point := range m.GetGauge().GetDataPoints() {
					sent[m.GetName()] = point.GetAsInt()
				}
				for _, point := range m.GetSum().GetDataPoints() {
					sent[m.GetName()+" "+point.GetAttributes()[0].GetValue().GetStringValue()] = point.GetAsInt()
				}
			}
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_METRICS_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", collector.URL+"/v1/metrics")
	shows := func(stop func() error, want map[string]int64) {
		t.Helper()
		if err := stop(); err != nil {
			t.Errorf("run: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
		clear(sent)
	}

	url, file := listen(t), write(t, denying("a=one"))
	p := process{remind: 30 * time.Millisecond}
	_, stop := startIn(t, p, url, file)
	shows(stop, map[string]int64{"hook_worker.file.current": 1, "hook_worker.file.reads taken": 1})

	stderr, stop := startIn(t, p, url, file)
	replace(t, file, "hooks: nothing\n")
	says(t, stderr, `"level":"ERROR","msg":"reload still failing; keeping the previous hooks","file":"`+file+`","since":`)
	shows(stop, map[string]int64{"hook_worker.file.current": 0, "hook_worker.file.reads taken": 1, "hook_worker.file.reads failed": 1})

	replace(t, file, denying("a=one"))
	stderr, stop = startIn(t, p, url, file)
	replace(t, file, "hooks: nothing\n")
	says(t, stderr, "reload still failing")
	replace(t, file, denying("a=one"))
	says(t, stderr, `"msg":"reloaded","file":"`+file+`","changes":"nothing changed","new":"","changed":"","removed":""`)
	n := strings.Count(stderr.String(), "reload still failing")
	<-time.After(4 * p.remind)
	if more := strings.Count(stderr.String(), "reload still failing") - n; more > 0 {
		t.Errorf("told %d times more, and it is reloaded:\n%s", more, stderr)
	}
	shows(stop, map[string]int64{"hook_worker.file.current": 1, "hook_worker.file.reads taken": 2, "hook_worker.file.reads failed": 1})
}
