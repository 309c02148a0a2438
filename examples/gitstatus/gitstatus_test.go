package gitstatus

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// repository makes an empty repository, and no one above it is found.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	isolate(t, dir)
	cmd := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--initial-branch=main", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}

func isolate(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("LC_ALL", "C")
}

func sessionStart(t *testing.T, cwd string) events.Event {
	t.Helper()
	data, err := json.Marshal(map[string]string{"cwd": cwd})
	if err != nil {
		t.Fatal(err)
	}
	return events.Event{Name: events.SessionStart, Data: data}
}

func TestHookTellsTheStatus(t *testing.T) {
	dir := repository(t)
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for sentence, hook := range map[string]struct {
		opts Options
		cwd  string
	}{
		"of the agent's directory":   {Options{}, dir},
		"of the directory set":       {Options{Dir: dir}, t.TempDir()},
		"with nobody telling a path": {Options{Dir: dir}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook(hook.opts)(t.Context(), sessionStart(t, hook.cwd))
			if err != nil {
				t.Fatal(err)
			}
			want := "Git status:\n## No commits yet on main\n?? new.txt"
			if got.Action != chain.InjectContext || got.ContextInjection != want || !got.SuppressOutput {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestHookShortensALongStatus(t *testing.T) {
	dir := repository(t)
	for i := range 150 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Hook(Options{})(t.Context(), sessionStart(t, dir))
	if err != nil || !strings.HasSuffix(got.ContextInjection, "\n... and 51 more") || strings.Count(got.ContextInjection, "\n") != 101 {
		t.Errorf("%q, %v", got.ContextInjection, err)
	}
}

func TestHookRunsNoProgramOfTheRepository(t *testing.T) {
	dir := repository(t)
	proof := filepath.Join(t.TempDir(), "proof")
	cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "config", "core.fsmonitor", "touch '"+proof+"'; false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git config: %v: %s", err, out)
	}
	if _, err := Hook(Options{})(t.Context(), sessionStart(t, dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("git ran the program that the repository names as its monitor")
	}
}

func TestHookIsSilentWithoutARepository(t *testing.T) {
	dir := t.TempDir()
	isolate(t, dir)
	if got, err := Hook(Options{})(t.Context(), sessionStart(t, dir)); err != nil || got.Action != "" {
		t.Errorf("no repository: %+v, %v", got, err)
	}
	t.Setenv("PATH", "")
	if got, err := Hook(Options{})(t.Context(), sessionStart(t, dir)); err != nil || got.Action != "" {
		t.Errorf("no git: %+v, %v", got, err)
	}
}

func TestHookFails(t *testing.T) {
	if _, err := Hook(Options{})(t.Context(), sessionStart(t, filepath.Join(t.TempDir(), "gone"))); err == nil {
		t.Error("a directory that is not there has a status")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Hook(Options{})(ctx, sessionStart(t, repository(t))); err == nil {
		t.Error("git ran though the call was over")
	}
}
