package eventlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/builtin/eventlog"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleNew() {
	dir, err := os.MkdirTemp("", "eventlog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	hook, err := eventlog.New(kind.Section{Worker: kind.Worker{Dir: dir}}, eventlog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = hook.Handler(context.Background(), events.Event{
		ID: "e1", Source: "/agent", Name: events.ToolPre, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash","token":"hunter2"}`),
	})
	hook.Close()
	text, _ := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	fmt.Printf("%s%v", text, err)
	// Output:
	// {"specversion":"1.0","id":"e1","source":"/agent","type":"tool:pre","subject":"s1","datacontenttype":"application/json","data":{"tool_name":"Bash","token":"[REDACTED:key]"}}
	// <nil>
}

func hookIn(t *testing.T, dir string, o eventlog.Options) kind.Hook {
	t.Helper()
	hook, err := eventlog.New(kind.Section{Worker: kind.Worker{Dir: dir, Log: slog.New(slog.DiscardHandler)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

func write(t *testing.T, hook kind.Hook, ev events.Event) {
	t.Helper()
	if result, err := hook.Handler(t.Context(), ev); err != nil || !cmp.Equal(result, chain.Result{}) {
		t.Fatalf("the hook answered %+v, %v", result, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// eventually waits for what a goroutine does within a few seconds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		select {
		case <-tick.C:
			if is() {
				return
			}
		case <-ctx.Done():
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestALineHoldsWhatWasAskedFor(t *testing.T) {
	ev := events.Event{
		ID: "e1", Source: "/a\"b", Name: "x:y", Session: "s", Time: "2026-01-02T03:04:05Z",
		Extensions: map[string]string{"traceparent": "00-1", "agent": "a", "data": "forged", "A\"": "x"},
		Data:       json.RawMessage("{\n\t\"password\": \"x\",\r\n \"big\": 9007199254740993 }"),
	}
	head := `{"specversion":"1.0","id":"e1","source":"/a\"b","type":"x:y","subject":"s","time":"2026-01-02T03:04:05Z","agent":"a","traceparent":"00-1"`
	for data, want := range map[eventlog.Data]string{
		"":                    head + `,"datacontenttype":"application/json","data":{"password":"[REDACTED:key]","big":9007199254740993}}` + "\n",
		eventlog.DataRedacted: head + `,"datacontenttype":"application/json","data":{"password":"[REDACTED:key]","big":9007199254740993}}` + "\n",
		eventlog.DataFull:     head + `,"datacontenttype":"application/json","data":{"password":"x","big":9007199254740993}}` + "\n",
		eventlog.DataNone:     head + "}\n",
	} {
		dir := t.TempDir()
		hook := hookIn(t, dir, eventlog.Options{Data: data})
		write(t, hook, ev)
		hook.Close()
		if diff := cmp.Diff(want, read(t, filepath.Join(dir, "events.jsonl"))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
	}
}

func TestLinesAreWrittenWithinASecond(t *testing.T) {
	dir := t.TempDir()
	hook := hookIn(t, dir, eventlog.Options{File: "new/dir/log.jsonl"})
	defer hook.Close()
	write(t, hook, events.Event{ID: "e1"})
	path := filepath.Join(dir, "new", "dir", "log.jsonl")
	eventually(t, "a write", func() bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), `"id":"e1"`)
	})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want one for its owner alone", info.Mode(), err)
	}
}

func TestLinesOfManyGoroutinesStayWhole(t *testing.T) {
	dir := t.TempDir()
	hook := hookIn(t, dir, eventlog.Options{Data: eventlog.DataFull})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				write(t, hook, events.Event{ID: "e", Data: json.RawMessage(`{"x":"` + strings.Repeat("y", 500) + `"}`)})
			}
		})
	}
	all.Wait()
	hook.Close()
	lines := strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "events.jsonl"))), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("a line is no JSON: %s", line)
		}
	}
	if len(lines) != 1600 {
		t.Errorf("%d lines; want 1600", len(lines))
	}
}

func TestALargeFileMakesRoomForTheNext(t *testing.T) {
	dir := t.TempDir()
	hook := hookIn(t, dir, eventlog.Options{MaxSizeMB: 1, Keep: 2, Gzip: true, Data: eventlog.DataFull})
	ev := events.Event{ID: "e1", Data: json.RawMessage(`{"x":"` + strings.Repeat("y", 400<<10) + `"}`)}
	for range 12 { // two fit into a file
		write(t, hook, ev)
		path := filepath.Join(dir, "events.jsonl")
		eventually(t, "a write", func() bool { info, err := os.Stat(path); return err == nil && info.Size() > 0 })
	}
	hook.Close()
	older, err := filepath.Glob(filepath.Join(dir, "events-*-size.jsonl.gz"))
	if err != nil || len(older) != 2 {
		t.Errorf("%v, %v are kept; want 2 files", older, err)
	}
}

func TestAFileThatWasLeftAloneIsOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	hook := hookIn(t, dir, eventlog.Options{})
	write(t, hook, events.Event{ID: "e1"})
	hook.Close()
	older, _ := filepath.Glob(filepath.Join(dir, "events-*-time.jsonl"))
	if len(older) != 1 || strings.Contains(read(t, path), "old") {
		t.Errorf("%v are older files, and the new one has %q", older, read(t, path))
	}
}

func TestAnEventThatNoFileHoldsIsRefused(t *testing.T) {
	hook := hookIn(t, t.TempDir(), eventlog.Options{MaxSizeMB: 1, Data: eventlog.DataFull})
	defer hook.Close()
	_, err := hook.Handler(t.Context(), events.Event{Data: json.RawMessage(`{"x":"` + strings.Repeat("y", 1<<20) + `"}`)})
	if err == nil || !strings.Contains(err.Error(), "max_size_mb") {
		t.Errorf("error %v; want one that names max_size_mb", err)
	}
}

// TestAnotherProcessHasItsOwnFile has the test stand in for the other process: it holds
// the lock.
func TestAnotherProcessHasItsOwnFile(t *testing.T) {
	dir := t.TempDir()
	other, err := os.Create(filepath.Join(dir, "events.jsonl.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	hook := hookIn(t, dir, eventlog.Options{})
	write(t, hook, events.Event{ID: "e1"})
	hook.Close()
	if _, err := os.Stat(filepath.Join(dir, "events.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of another process was written: %v", err)
	}
	if text := read(t, filepath.Join(dir, "events.2.jsonl")); !strings.Contains(text, `"id":"e1"`) {
		t.Errorf("the second file has %q", text)
	}
}

func TestAReloadedHookGoesOnInItsFile(t *testing.T) {
	dir := t.TempDir()
	before := hookIn(t, dir, eventlog.Options{})
	write(t, before, events.Event{ID: "e1"})
	after := hookIn(t, dir, eventlog.Options{Keep: 3})
	write(t, before, events.Event{ID: "e2"})
	before.Close()
	write(t, after, events.Event{ID: "e3"})
	after.Close()
	text := read(t, filepath.Join(dir, "events.jsonl"))
	for _, id := range []string{"e1", "e2", "e3"} {
		if !strings.Contains(text, `"id":"`+id+`"`) {
			t.Errorf("%s is missing in %s", id, text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("files %v; want the log and its lock", left)
	}
}

func TestAHookThatWasNeverCalledWritesNothing(t *testing.T) {
	dir := t.TempDir()
	hookIn(t, dir, eventlog.Options{}).Close()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("files %v; want none", left)
	}
}
