package notifier

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func nothing(string) (string, error) { return "", exec.ErrNotFound }

// fake is a desktop whose only program writes its arguments to a file, one in a
// line, and ends with the given code.
func fake(t *testing.T, program string, code int) (lookPath func(string) (string, error), shown func() string) {
	t.Helper()
	dir := t.TempDir()
	out, script := filepath.Join(dir, "shown"), filepath.Join(dir, program)
	text := fmt.Sprintf("#!/bin/sh\nfor a; do echo \"$a\"; done > '%s'\nexit %d\n", out, code)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	lookPath = func(name string) (string, error) {
		if name != program {
			return "", exec.ErrNotFound
		}
		return script, nil
	}
	shown = func() string {
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return lookPath, shown
}

func notification(kind, message string) events.Event {
	data, err := json.Marshal(map[string]string{"notification_type": kind, "message": message})
	if err != nil {
		panic(err) // strings
	}
	return events.Event{Name: events.UserNotification, Data: data}
}

func TestHookUsesTheDesktop(t *testing.T) {
	for _, program := range []string{"notify-send", "osascript"} {
		lookPath, shown := fake(t, program, 0)
		got, err := Hook(Options{LookPath: lookPath})(t.Context(), notification("awaiting_input", "--help\n\x1b[2Jme"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(chain.Result{SuppressOutput: true}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", program, diff)
		}
		if !strings.HasSuffix(shown(), "\n--\nAgent: awaiting_input\n--help [2Jme\n") {
			t.Errorf("%s got %q", program, shown())
		}
	}
}

func TestHookTellsTheUserWhereThereIsNoDesktop(t *testing.T) {
	broken, _ := fake(t, "notify-send", 1)
	for sentence, c := range map[string]struct {
		lookPath   func(string) (string, error)
		kind, want string
		level      chain.Level
	}{
		"waiting for input":          {nothing, "awaiting_input", "\aAgent: awaiting_input: look here", chain.LevelInfo},
		"an approval":                {nothing, "approval_required", "\aAgent: approval_required: look here", chain.LevelWarning},
		"an alert":                   {nothing, "alert", "\aAgent: alert: look here", chain.LevelWarning},
		"an error":                   {nothing, "error", "\aAgent: error: look here", chain.LevelError},
		"a desktop that can't do it": {broken, "error", "\aAgent: error: look here", chain.LevelError},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook(Options{LookPath: c.lookPath})(t.Context(), notification(c.kind, "look\nhere"))
			if err != nil {
				t.Fatal(err)
			}
			want := chain.Result{UserMessage: c.want, UserMessageLevel: c.level, SuppressOutput: true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHookTellsThatTheAgentIsDone(t *testing.T) {
	done := events.Event{Name: events.OrchestratorComplete, Data: json.RawMessage(`{"turn_count":3,"duration_ms":1500}`)}
	lookPath, shown := fake(t, "notify-send", 0)
	if _, err := Hook(Options{LookPath: lookPath})(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(shown(), "Agent: session complete\nCompleted 3 turns in 1.5s\n") {
		t.Errorf("shown %q", shown())
	}
	got, err := Hook(Options{LookPath: nothing})(t.Context(), done)
	if diff := cmp.Diff(chain.Result{SuppressOutput: true}, got); diff != "" || err != nil {
		t.Errorf("without a desktop: %v, %s", err, diff)
	}
}

func TestHookReportsDataItCannotRead(t *testing.T) {
	for _, name := range []string{events.UserNotification, events.OrchestratorComplete} {
		ev := events.Event{Name: name, Data: json.RawMessage(`{"message":5,"turn_count":"x"}`)}
		if got, err := Hook(Options{LookPath: nothing})(t.Context(), ev); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func ExampleHook() {
	hook := Hook(Options{LookPath: nothing})
	result, err := hook(context.Background(), notification("awaiting_input", "Which branch?"))
	fmt.Printf("%q %v\n", result.UserMessage, err)
	// Output: "\aAgent: awaiting_input: Which branch?" <nil>
}
