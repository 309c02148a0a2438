package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const planFile = `
hooks:
  - {id: fresh, events: [e], on_failure: deny, cel: {rules: [{deny: no}]}}
  - {id: same, events: ["tool:pre"], priority: 0, cel: {rules: [{deny: no}]}}
  - {id: other, events: [e], priority: 5, match: data.x == 1, version: 1.1.0, cel: {rules: [{deny: no}]}}
  - {id: newer, events: [f], version: 1.0.0, cel: {rules: [{deny: no}]}}
`

func TestADryRunSaysWhatStartingWouldChangeAndChangesNothing(t *testing.T) {
	t.Parallel()
	url := listen(t)
	w, err := worker.New(natstest.Client(t, hookrouter.Options{URL: url}), worker.Options{Instance: "them"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(t.Context()) }()
	for _, reg := range []chain.Registration{
		{ID: "same", Events: []string{"tool:pre"}},
		{ID: "other", Events: []string{"e"}, Name: "Oth\u202eer", Version: "1.0.0"}, // shown without what turns the direction of writing
		{ID: "newer", Events: []string{"e"}, Version: "2.0.0"},
		{ID: "unrelated", Events: []string{"e"}},
	} {
		if _, err := w.Register(t.Context(), reg, func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }); err != nil {
			t.Fatal(err)
		}
	}
	before, err := connect(t, url).Registry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, planFile)
	dry := func(more ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		args := append([]string{"--config", file, "--nats-url", url, "--dry-run"}, more...)
		if err := run(t.Context(), args, process{stdout: &stdout, stderr: &stderr}); err != nil {
			t.Fatalf("run: %v\n%s", err, &stderr)
		}
		return stdout.String()
	}
	want := "on " + url + `, and without starting anything:
  new      fresh: on e, priority 0, on_failure deny, mode enforce
  same     same: shared with them
  changed  other: taken over from them 1.0.0
             match: nothing -> "data.x == 1"
             name: "Other" -> "other"
             priority: nothing -> 5
             version: "1.0.0" -> "1.1.0"
  refused  newer: the bus has a newer version, of them 2.0.0
             events: ["e"] -> ["f"]
             version: "2.0.0" -> "1.0.0"
`
	if diff := cmp.Diff(want, dry()); diff != "" {
		t.Errorf("for people (-want +got):\n%s", diff)
	}
	var got plan
	if err := json.Unmarshal([]byte(dry("--json")), &got); err != nil {
		t.Fatal(err)
	}
	var is []string
	for _, one := range got.Hooks {
		is = append(is, one.ID+" "+one.Is)
	}
	if diff := cmp.Diff([]string{"fresh new", "same same", "other changed", "newer refused"}, is); diff != "" || got.Hooks[2].Fields["priority"].File != 5.0 {
		t.Errorf("for programs: %+v %s", got, diff)
	}
	after, err := connect(t, url).Registry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("it changed the bus (-before +after):\n%s", diff)
	}
}

func TestADryRunNeedsARouter(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"--config", write(t, planFile), "--nats-url", "nats://127.0.0.1:1", "--dry-run"}, process{stdout: &stdout, stderr: &stderr})
	if err == nil || !strings.Contains(err.Error(), "connect to NATS") || exitCode(err) != 1 {
		t.Errorf("run = %v", err)
	}
}
