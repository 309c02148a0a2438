package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/evaluate/replay"
)

// script is a program that answers as a worker's process would, or not.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook-worker")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAWorkerIsAskedAndHeardInOrder(t *testing.T) {
	const chains = 50
	var messages [][]any
	for i := range chains {
		messages = append(messages, []any{ended(fmt.Sprint("c", i), "continue", 0)})
	}
	asked := filepath.Join(t.TempDir(), "asked")
	// Each answer is as long as several pipes hold: who does not read while it writes stands still.
	program := script(t, `long=$(head -c 200000 /dev/zero | tr '\0' x); while read -r line; do
		echo "$line" >> "$1"; id=${line##*'"id":"e-'}; echo "{\"action\":\"deny\",\"reason\":\"${id%%'"'*}\",\"injection\":\"$long\",\"hops\":[]}"; done`)
	w, err := replay.StartWorker(t.Context(), replay.WorkerOptions{Program: program, Args: []string{asked}, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	results, report := run(t, replay.FromExport(bytes.NewReader(export(t, messages...)), replay.Filter{}), w.Replay)
	for _, r := range results {
		if r.Would.Reason != r.Chain.ID {
			t.Errorf("chain %s got the answer for %s", r.Chain.ID, r.Would.Reason)
		}
	}
	text, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != chains || report.Differ != chains {
		t.Errorf("%d questions, report %+v; want %d", n, report, chains)
	}
	if !strings.Contains(string(text), `{"event":"tool:pre","session_id":"s1","id":"e-c0","source":"/test",`) || strings.Contains(string(text), "recorded") {
		t.Errorf("asked was %s", text)
	}
}

func TestAWorkerThatFailsEndsTheReplay(t *testing.T) {
	for sentence, c := range map[string]struct{ text, want string }{
		"ends at once":             {"exit 3", "hook-worker has ended: exit status 3"},
		"ends without an answer":   {"read -r line", "hook-worker has ended"},
		"answers no JSON":          {"read -r line; echo hello; exec sleep 1000", "read the answer of hook-worker: invalid character"},
		"answers nothing":          {"read -r line; echo '{}'; exec cat", "its answer says nothing: is it of another version?"},
		"answers without question": {"echo '{}'; exec cat >/dev/null", ""}, // what is wrong depends on who is first
	} {
		t.Run(sentence, func(t *testing.T) {
			w, err := replay.StartWorker(t.Context(), replay.WorkerOptions{Program: script(t, c.text), Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			source := replay.FromExport(bytes.NewReader(export(t, []any{ended("c1", "continue", 0)}, []any{ended("c2", "continue", 0)})), replay.Filter{})
			err = replay.Run(t.Context(), source, w.Replay, replay.Options{Parallel: 2}, func(replay.Result) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run = %v; want %s", err, c.want)
			}
		})
	}
	if _, err := replay.StartWorker(t.Context(), replay.WorkerOptions{Program: "/no/such/program"}); err == nil {
		t.Error("a program that is not there is started")
	}
}
