package sessioncontext_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/builtin/sessioncontext"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleNew() {
	hook, err := sessioncontext.New(kind.Section{}, sessioncontext.Options{Text: "Answer in English."})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		result, err := hook.Handler(context.Background(), events.Event{Name: events.SessionStart, Session: "s1", Data: json.RawMessage(`{}`)})
		fmt.Printf("%q %v\n", result.ContextInjection, err)
	}
	// Output:
	// "Answer in English." <nil>
	// "" <nil>
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts a session, and returns what the agent is told.
func start(t *testing.T, dir string, o sessioncontext.Options) (chain.Result, error) {
	t.Helper()
	hook, err := sessioncontext.New(kind.Section{Worker: kind.Worker{Dir: dir}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Handler(t.Context(), events.Event{Name: events.SessionStart, Session: "s1", Data: json.RawMessage(`{}`)})
}

func TestContextOfAllSources(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "CONTEXT.md", "\ncontext\n")
	put(t, dir, "docs/b.md", "b")
	put(t, dir, "docs/a.md", "a")
	put(t, dir, "empty.md", " \n")
	put(t, dir, "bytes.md", "x\xff")
	if err := os.Symlink("docs/a.md", filepath.Join(dir, "inside.md")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    sessioncontext.Options
		want string
	}{
		"by default":               {sessioncontext.Options{}, "From CONTEXT.md:\ncontext"},
		"a text alone":             {sessioncontext.Options{Text: " x "}, "x"},
		"no files":                 {sessioncontext.Options{Files: []string{}}, ""},
		"files in order, and once": {sessioncontext.Options{Text: "x", Files: []string{"docs/b.md", "docs/*.md", "nothing.md", "empty.md", "docs"}}, "x\n\nFrom docs/b.md:\nb\n\nFrom docs/a.md:\na"},
		"a link that stays inside": {sessioncontext.Options{Files: []string{"inside.md"}}, "From inside.md:\na"},
		"from a directory":         {sessioncontext.Options{Dir: "docs", Files: []string{"a.md"}}, "From a.md:\na"},
		"no UTF-8":                 {sessioncontext.Options{Files: []string{"bytes.md"}}, "From bytes.md:\nx?"},
		"of a command":             {sessioncontext.Options{Dir: "docs", Command: []string{"cat", "b.md"}}, "From cat b.md:\nb"},
	} {
		if result, err := start(t, dir, c.o); err != nil || result.ContextInjection != c.want {
			t.Errorf("%s: %q, %v; want %q", name, result.ContextInjection, err, c.want)
		}
	}
}

func TestContextIsInjectedOnceAndAfterACompaction(t *testing.T) {
	states := &hookstate.Memory{}
	hook, err := sessioncontext.New(kind.Section{Worker: kind.Worker{States: states}}, sessioncontext.Options{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		name, session, data string
		told                bool
	}{
		{events.SessionStart, "s1", `{}`, true},
		{events.SessionStart, "s1", `{"source":"resume"}`, false},
		{events.SessionStart, "s2", `{}`, true},
		{events.ContextPostCompact, "s1", `{}`, true},
		{events.SessionStart, "s1", `{"source":"compact"}`, true},
		{events.SessionEnd, "s1", `{}`, false},
		{events.SessionEnd, "s2", `{}`, false},
		{events.SessionStart, "s1", `{}`, true},
		{events.SessionEnd, "s1", `{}`, false},
		{events.SessionStart, "", `{}`, true},
		{events.SessionStart, "", `{}`, true},
	} {
		result, err := hook.Handler(t.Context(), events.Event{Name: step.name, Session: step.session, Data: json.RawMessage(step.data)})
		if err != nil || (result.ContextInjection == "x") != step.told {
			t.Errorf("step %d: %+v, %v; want told %v", i, result, err, step.told)
		}
	}
	if states.Len() != 0 {
		t.Errorf("%d values are left", states.Len())
	}
}

func TestContextIsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "long.md", strings.Repeat("ä", 50_000))
	for name, o := range map[string]sessioncontext.Options{
		"a text":    {Text: strings.Repeat("ä", 50_000)},
		"files":     {Files: []string{"long.md"}, Text: "x"},
		"a command": {Command: []string{"yes", "ä"}},
		"little":    {Files: []string{"long.md"}, MaxBytes: 101},
	} {
		result, err := start(t, dir, o)
		limit := o.MaxBytes
		if limit == 0 {
			limit = sessioncontext.DefaultMaxBytes
		}
		if text := result.ContextInjection; err != nil || len(text) > limit || len(text) < limit/2 || !utf8.ValidString(text) || (name != "a command" && !strings.HasSuffix(text, "(cut)")) {
			t.Errorf("%s: %d bytes, %v; want at most %d", name, len(text), err, limit)
		}
	}
}

func TestNothingIsReadFromElsewhere(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "secret.md", "s3cret")
	for link, target := range map[string]string{"file.md": filepath.Join(outside, "secret.md"), "dir": outside} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"file.md", "*.md", "dir/secret.md", "dir/*", "pipe.md"} {
		if result, _ := start(t, dir, sessioncontext.Options{Files: []string{file}}); strings.Contains(result.ContextInjection, "s3cret") {
			t.Errorf("%s: the secret is told", file)
		}
	}
}

func TestAPipeInThePlaceOfADirectoryIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "docs"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "a.md", "there")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if result, err := start(t, dir, sessioncontext.Options{Files: []string{"docs/*.md", "docs/*/x", "*.md"}}); err != nil || !strings.Contains(result.ContextInjection, "there") {
			t.Errorf("told %q, %v", result.ContextInjection, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it waits for a writer of the pipe")
	}
}

func TestLargeDirectoriesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "docs/a.md", "there")
	docs := filepath.Join(dir, "docs")
	for i := range 10_001 {
		if err := os.Link(filepath.Join(docs, "a.md"), filepath.Join(docs, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := start(t, dir, sessioncontext.Options{Files: []string{"docs/*.md"}}); err == nil || !strings.Contains(err.Error(), "more than 10000 files") {
		t.Errorf("error %v", err)
	}
	if result, err := start(t, dir, sessioncontext.Options{Files: []string{"docs/a.md"}}); err != nil || !strings.Contains(result.ContextInjection, "there") {
		t.Errorf("a path: told %q, %v", result.ContextInjection, err)
	}
}

func TestACommandThatFailsIsAnError(t *testing.T) {
	if _, err := start(t, t.TempDir(), sessioncontext.Options{Command: []string{"sh", "-c", "echo x; exit 3"}}); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("error %v; want the exit code", err)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for pointer, o := range map[string]sessioncontext.Options{
		"/max_bytes": {MaxBytes: 1 << 20},
		"/dir":       {Dir: "nowhere"},
		"/files/0":   {Files: []string{"../x"}},
		"/files/1":   {Files: []string{"x", "/etc/passwd"}},
		"/files/2":   {Files: []string{"x", "y", "[a"}},
		"/command/0": {Command: []string{"no-such-program-anywhere"}},
	} {
		_, err := sessioncontext.New(kind.Section{Worker: kind.Worker{Dir: t.TempDir()}}, o)
		if field, ok := errors.AsType[*kind.FieldError](err); !ok || string(field.Pointer) != pointer {
			t.Errorf("%v; want an error at %s", err, pointer)
		}
	}
}
