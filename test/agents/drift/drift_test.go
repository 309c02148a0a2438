package drift

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/test/agents"
	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
)

// versions tells the program that is cut off which versions were installed.
const versions = "HOOKROUTER_TEST_VERSIONS"

// TestMain installs the newest versions of what AGENTS names, and runs this program again.
func TestMain(m *testing.M) {
	list := os.Getenv("AGENTS")
	if list == "" || agents.Inside() {
		m.Run()
		return
	}
	runtime.LockOSThread()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	code, err := newest(ctx, list)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/agents/drift:", err)
		code = 1
	}
	os.Exit(code)
}

func newest(ctx context.Context, list string) (code int, err error) {
	chosen, err := agents.Select(list)
	if err != nil {
		return 0, err
	}
	var found []string
	for i, a := range chosen {
		if chosen[i], err = a.Newest(ctx); err != nil {
			return 0, err
		}
		found = append(found, chosen[i].Version)
	}
	if err := os.Setenv(versions, strings.Join(found, ",")); err != nil {
		return 0, err
	}
	return agents.RunInside(ctx, chosen, os.Stdout)
}

// TestDrift runs each agent once.
func TestDrift(t *testing.T) {
	list := os.Getenv("AGENTS")
	if list == "" {
		t.Skip("AGENTS names no agent")
	}
	chosen, err := agents.Select(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, version := range strings.Split(os.Getenv(versions), ",") {
		a := chosen[i]
		tried := a.Version
		a.Version = version
		t.Run(a.Name, func(t *testing.T) {
			t.Logf("the newest is %s; the table was tried with %s", version, tried)
			drift(t, a, sent(t, a))
			if eventLists[a.Name] != nil {
				allReviewed(t, a)
			}
		})
	}
}

// drift compares what an agent sent, by event, with the samples.
func drift(t *testing.T, a agents.Agent, sent map[string][]byte) {
	t.Helper()
	samples, err := filepath.Glob(filepath.Join("..", "..", "..", "internal", "agenthook", "testdata", a.Name, "*.json"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	var known []string
	for _, file := range samples {
		event := strings.TrimSuffix(filepath.Base(file), ".json")
		known = append(known, event)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		now, fired := sent[event]
		if !fired {
			t.Logf("%s was not fired; not every sample is of a run like this one", event)
			continue
		}
		was, err1 := fields(before)
		is, err2 := fields(now)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v %v", event, err1, err2)
			continue
		}
		gone, added := compare(was, is)
		for _, line := range gone {
			t.Errorf("%s: %s", event, line)
		}
		for _, line := range added {
			t.Logf("%s: %s", event, line)
		}
	}
	for event := range sent {
		if !slices.Contains(known, event) {
			t.Logf("%s has no sample", event)
		}
	}
}

// allReviewed checks that somebody has looked at each event of the agent's program.
func allReviewed(t *testing.T, a agents.Agent) {
	t.Helper()
	installed, _, err := a.Installed()
	if err != nil {
		t.Fatal(err)
	}
	events, found, err := unreviewed(a, installed)
	if err != nil || !found {
		t.Fatalf("its list of hook events is not found: %v", err)
	}
	for _, event := range events {
		t.Errorf("%s is new: does anything happen there that no gated event covers?", event)
	}
}

// recorder is a hook that keeps what it gets first of each event, and lets everything pass.
const recorder = `#!/bin/sh
for event; do :; done
file="%s/$event.json"
[ -e "$file" ] && file=/dev/null
cat > "$file"
`

// sent is what an agent sends its hooks when it runs one command, by event.
func sent(t *testing.T, a agents.Agent) map[string][]byte {
	t.Helper()
	installed, _, err := a.Installed()
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(&stubmodel.Server{Command: "echo hi > marker"})
	defer model.Close()
	r := agents.Run{Home: t.TempDir(), Dir: t.TempDir(), Temp: t.TempDir(), Model: model.URL, Prompt: "make the marker"}
	if err := a.Prepare(r); err != nil {
		t.Fatal(err)
	}
	kept := t.TempDir()
	hook := filepath.Join(t.TempDir(), "hook-agent")
	if err := os.WriteFile(hook, fmt.Appendf(nil, recorder, kept), 0o700); err != nil {
		t.Fatal(err)
	}
	connect := exec.CommandContext(t.Context(), testkit.Program(t, "hookctl"), "connect", a.Name, "--yes", "--hook-agent="+hook)
	connect.Dir, connect.Env = r.Dir, []string{"HOME=" + r.Home}
	if out, err := connect.CombinedOutput(); err != nil {
		t.Fatalf("hookctl connect: %v\n%s", err, out)
	}
	out, err := a.Command(testkit.Within(t, 90*time.Second), installed, r).CombinedOutput()
	if err != nil {
		t.Fatalf("it ended with %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "marker")); err != nil {
		t.Errorf("it did not run the command: %s", out)
	}
	documents := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(kept, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("it called no hook: %v\n%s", err, out)
	}
	for _, file := range files {
		document, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents[strings.TrimSuffix(filepath.Base(file), ".json")] = document
	}
	return documents
}

// TestCompare compares two documents.
func TestCompare(t *testing.T) {
	before, err := fields([]byte(`{"a":1,"b":{"c":"x","d":[{"e":true}]},"f":null}`))
	if err != nil {
		t.Fatal(err)
	}
	now, err := fields([]byte(`{"a":"1","b":{"c":"y","d":[]},"g":{"h":2},"f":null}`))
	if err != nil {
		t.Fatal(err)
	}
	gone, added := compare(before, now)
	if want := []string{"a is string and was number", "b.d[].e is gone"}; !slices.Equal(gone, want) {
		t.Errorf("gone: %q, want %q", gone, want)
	}
	if want := []string{"g is new: object", "g.h is new: number"}; !slices.Equal(added, want) {
		t.Errorf("added: %q, want %q", added, want)
	}
	if _, err := fields([]byte("no JSON")); err == nil {
		t.Error("what is no JSON was read")
	}
}
