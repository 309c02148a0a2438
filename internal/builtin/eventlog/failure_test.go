package eventlog_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/eventlog"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// full is a hook whose file is on a full disk.
func full(t *testing.T) (hook kind.Hook, path string) {
	t.Helper()
	dir := t.TempDir()
	hook = hookIn(t, dir, eventlog.Options{Data: eventlog.DataFull})
	path = filepath.Join(dir, "events.jsonl")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	return hook, path
}

// fails sends events until one fails with a text.
func fails(t *testing.T, hook kind.Hook, data, want string) error {
	t.Helper()
	var err error
	eventually(t, want, func() bool {
		_, err = hook.Handler(t.Context(), events.Event{ID: "e1", Data: json.RawMessage(data)})
		return err != nil && strings.Contains(err.Error(), want)
	})
	return err
}

func TestAFullDiskIsAnErrorUntilThereIsRoom(t *testing.T) {
	hook, path := full(t)
	if err := fails(t, hook, `{}`, "waits in memory"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v; want %v", err, syscall.ENOSPC)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	sent := 0
	eventually(t, "a write", func() bool {
		sent++
		_, err := hook.Handler(t.Context(), events.Event{ID: "later"})
		return err == nil
	})
	hook.Close()
	text := read(t, path)
	if n := strings.Count(text, `"later"`); n != sent || !strings.HasPrefix(text, `{"specversion":"1.0","id":"e1"`) {
		t.Errorf("%d of %d lines were written, after %.50q", n, sent, text)
	}
}

func TestWhatWaitsForAFullDiskIsBounded(t *testing.T) {
	hook, _ := full(t)
	if err := fails(t, hook, `{"x":"`+strings.Repeat("y", 1<<20)+`"}`, "the event is lost"); !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "slower") {
		t.Errorf("error %v; want its cause", err)
	}
	hook.Close()
}

func TestBadOptionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for pointer, o := range map[string]eventlog.Options{
		"/data":         {Data: "some"},
		"/max_size_mb":  {MaxSizeMB: -1},
		"/rotate_hours": {RotateHours: 1 << 30},
		"/keep":         {Keep: -1},
		"/file":         {File: "."},
		"/file:":        {File: "new/"},
		"/file::":       {File: "plain/events.jsonl"},
	} {
		_, err := eventlog.New(kind.Section{Worker: kind.Worker{Dir: dir}}, o)
		if err == nil || !strings.HasPrefix(err.Error(), strings.TrimRight(pointer, ":")) {
			t.Errorf("%+v: %v; want an error at %s", o, err, pointer)
		}
	}
}

func TestEventLogObservesAllEvents(t *testing.T) {
	if reg := eventlog.Builtin.Registration; reg.Mode != chain.Observe || len(reg.Events) != 1 || reg.Events[0] != "*" {
		t.Errorf("registration %+v", reg)
	}
}
