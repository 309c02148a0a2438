package exechook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestMain makes scripts find the Python interpreter itself. A pyenv wrapper script takes several
// times as long.
func TestMain(m *testing.M) {
	out, err := exec.Command("python3", "-c", "import os, sys; print(os.path.dirname(sys.executable))").Output() //nolint:noctx // it ends by itself
	if dir := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(dir) {
		_ = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	goleak.VerifyTestMain(m)
}

var bash = events.Event{
	ID: "e1", Source: "/agent", Name: "tool:pre", Session: "s1", Time: "2026-01-02T03:04:05Z",
	Extensions: map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	Data:       json.RawMessage(`{"tool_name":"Bash","big":9007199254740993}`),
}

// handler returns a handler that runs a sh script; c has the other settings.
func handler(t *testing.T, script string, c exechook.Config) kind.Handler {
	t.Helper()
	c.Command = append([]string{"sh", "-c", script, "sh"}, c.Command...)
	h, err := exechook.New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return h
}

func TestAnAnswerIsAHookResult(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   chain.Result
	}{
		"no output continues":              {`true`, chain.Result{}},
		"spaces continue":                  {`echo; echo`, chain.Result{}},
		"null continues":                   {`echo null`, chain.Result{}},
		"a denial":                         {`echo '{"action":"deny","reason":"no"}'`, chain.Denial("no")},
		"input need not be read":           {`exec 0<&-; echo '{"action":"deny"}'`, chain.Denial("")},
		"output to stderr is for people":   {`echo thinking >&2; echo '{"action":"deny"}'`, chain.Denial("")},
		"a change keeps its bytes":         {`echo '{"action":"modify","data":{"n": 9007199254740993}}'`, chain.Result{Action: chain.Modify, Data: json.RawMessage(`{"n": 9007199254740993}`)}},
		"a megabyte of stderr is no error": {`head -c 1000000 /dev/zero >&2; echo '{"action":"deny"}'`, chain.Denial("")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := handler(t, c.script, exechook.Config{})(t.Context(), bash)
			if err != nil {
				t.Fatalf("the command failed: %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCommandGetsTheEvent(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	if _, err := handler(t, `cat > "$1"`, exechook.Config{Command: []string{seen}})(t.Context(), bash); err != nil {
		t.Fatalf("the command failed: %v", err)
	}
	want := `{"event":"tool:pre","session_id":"s1","event_id":"e1","source":"/agent","time":"2026-01-02T03:04:05Z",` +
		`"data":{"tool_name":"Bash","big":9007199254740993}}` + "\n"
	if diff := cmp.Diff(want, read(t, seen)); diff != "" {
		t.Errorf("standard input (-want +got):\n%s", diff)
	}
}

func TestTheCommandSeesListedVariablesOnly(t *testing.T) {
	t.Setenv("TZ", "UTC")
	t.Setenv("SECRET", "s3cret")
	t.Setenv("WANTED", "yes")
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"by default":         {nil, "UTC||"},
		"as listed":          {[]string{"WANTED"}, "UTC||yes"},
		"one that isn't set": {[]string{"TZ", "NOBODY_SETS_THIS"}, "UTC||"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			h := handler(t, `printf '%s|%s|%s' "$TZ" "$SECRET" "$WANTED" > "$1"; env | grep ^HOOK_ | grep -v ^HOOK_RUN= | sort >> "$1"; echo "$TRACEPARENT" >> "$1"`,
				exechook.Config{Command: []string{out}, Env: c.env})
			if _, err := h(t.Context(), bash); err != nil {
				t.Fatalf("the command failed: %v", err)
			}
			want := c.want + "HOOK_EVENT=tool:pre\nHOOK_EVENT_ID=e1\nHOOK_SESSION_ID=s1\n" + bash.Extensions["traceparent"] + "\n"
			if diff := cmp.Diff(want, read(t, out)); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACommandThatFailsIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"an exit code with a reason":        {`echo first >&2; echo 'no such rule' >&2; echo >&2; exit 3`, "run sh: exit status 3: no such rule"},
		"an exit code without one":          {`exit 2`, "run sh: exit status 2"},
		"an answer does not outweigh it":    {`echo '{}'; exit 1`, "run sh: exit status 1"},
		"a signal":                          {`kill -SEGV $$`, "run sh: signal: segmentation fault"},
		"control characters are taken away": {`printf 'a\033[31mred\tb\000c\377' >&2; exit 1`, "run sh: exit status 1: a [31mred b c?"},
		"a long line is cut":                {`head -c 5000 /dev/zero | tr '\0' x >&2; exit 1`, "run sh: exit status 1: " + strings.Repeat("x", 200) + "..."},
		"half a JSON":                       {`printf '{"action":"de'`, "run sh: read its output: invalid result: data is not JSON"},
		"no JSON":                           {`echo hello`, "run sh: read its output: invalid result: "},
		"an answer without an action":       {`echo '{"decision":"block"}'`, `run sh: read its output: invalid result: it has "decision" and no action: an answer as Claude Code's`},
		"an unknown action":                 {`echo '{"action":"explode"}'`, "run sh: read its output: invalid result: action must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := handler(t, c.script, exechook.Config{})(t.Context(), bash)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("the command answered %+v, %v; want the error %s", got, err, c.want)
			}
		})
	}
}

func TestAFailureHasTheFirstLineOfStandardError(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"nothing was written":               {`exit 1`, ""},
		"the first of several":              {`printf '\n \nfirst\nlast\n' >&2; exit 1`, "first"},
		"control characters are taken away": {`printf 'a\033[31mred\tb\000c\377\n' >&2; exit 1`, "a [31mred b c?"},
		"a long line is cut":                {`head -c 100000 /dev/zero | tr '\0' x >&2; exit 1`, strings.Repeat("x", 200) + "..."},
		"a megabyte after it":               {`echo first >&2; head -c 1000000 /dev/zero >&2; exit 1`, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := handler(t, c.script, exechook.Config{})(t.Context(), bash)
			failure, ok := errors.AsType[*exechook.Failure](err)
			if !ok || failure.Stderr != c.want {
				t.Errorf("error %v; want a failure with %q", err, c.want)
			}
		})
	}
}

func TestACommandThatPrintsWithoutEndIsKilled(t *testing.T) {
	for name, script := range map[string]string{
		"itself":          `exec yes`,
		"its child":       `yes; true`,
		"a gigabyte":      `head -c 1000000000 /dev/zero`,
		"one byte beyond": `head -c 1001 /dev/zero; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := handler(t, script, exechook.Config{MaxOutput: 1000})(t.Context(), bash)
			if want := "run sh: the output is too long: more than 1000 bytes, the limit max_output"; err == nil || err.Error() != want {
				t.Errorf("error %v; want %s", err, want)
			}
		})
	}
}

func TestAsMuchOutputAsAllowedIsAnAnswer(t *testing.T) {
	reply := `{"action":"deny","reason":"` + strings.Repeat("x", 1000) + `"}`
	if _, err := handler(t, `printf %s '`+reply+`'`, exechook.Config{MaxOutput: len(reply)})(t.Context(), bash); err != nil {
		t.Errorf("the command failed: %v", err)
	}
}

// held returns a named pipe. A read from it ends when no process has the pipe open.
func held(t *testing.T) string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatalf("make a pipe: %v", err)
	}
	return fifo
}

// open waits until a process has opened the pipe.
func open(t *testing.T, fifo string) *os.File {
	t.Helper()
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatalf("open the pipe: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// wantGone fails unless all processes that have the pipe open end.
func wantGone(t *testing.T, pipe *os.File) {
	t.Helper()
	if err := pipe.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatalf("set a deadline: %v", err)
	}
	if _, err := io.ReadAll(pipe); err != nil {
		t.Errorf("a process is still alive: %v", err)
	}
}

func TestTheCommandIsKilledWithItsChildren(t *testing.T) {
	for name, script := range map[string]string{
		"a command that never ends":         `exec 9>"$1"; exec sleep 1000`,
		"one that waits for its child":      `exec 9>"$1"; sleep 1000; true`,
		"one with children behind it":       `exec 9>"$1"; sleep 1000 & sleep 1000 & wait`,
		"one that ignores signals":          `exec 9>"$1"; trap '' TERM INT HUP; sleep 1000; true`,
		"one whose children close the pipe": `exec 9>"$1"; sleep 1000 >&- 2>&- <&- & sleep 1000`,
		"one with grandchildren":            `exec 9>"$1"; sh -c 'sh -c "sleep 1000; true" & wait' & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			fifo := held(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			h := handler(t, script, exechook.Config{Command: []string{fifo}})
			go func() {
				_, err := h(ctx, bash)
				failed <- err
			}()
			pipe := open(t, fifo)
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "killed with its children") {
				t.Errorf("error %v; want that it was killed", err)
			}
			wantGone(t, pipe)
		})
	}
}

func TestADeadlineEndsTheCommand(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := handler(t, `sleep 1000`, exechook.Config{})(ctx, bash); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v; want %v", err, context.DeadlineExceeded)
	}
}

func TestChildrenDoNotOutliveAnAnswer(t *testing.T) {
	for name, script := range map[string]string{
		"children that hold its output": `exec 9>"$1"; sleep 1000 & echo '{"action":"deny"}'`,
		"children that don't":           `exec 9>"$1"; sleep 1000 >/dev/null 2>&1 </dev/null & echo '{"action":"deny"}'`,
	} {
		t.Run(name, func(t *testing.T) {
			fifo := held(t)
			answered := make(chan chain.Result, 1)
			h := handler(t, script, exechook.Config{Command: []string{fifo}})
			go func() {
				got, err := h(t.Context(), bash)
				if err != nil {
					t.Errorf("the command failed: %v", err)
				}
				answered <- got
			}()
			pipe := open(t, fifo)
			if got := <-answered; !got.Denied() {
				t.Errorf("result %+v; want a denial", got)
			}
			wantGone(t, pipe)
		})
	}
}

func TestACallBeyondTheLimitWaitsForASlot(t *testing.T) {
	fifo := held(t)
	h := handler(t, `if [ -n "$2" ]; then exit 0; fi; exec 9>"$1"; read -r line <"$1.go"`, exechook.Config{Command: []string{fifo}, Concurrency: 1})
	if err := syscall.Mkfifo(fifo+".go", 0o600); err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() {
		_, err := h(t.Context(), bash)
		first <- err
	}()
	open(t, fifo) // the first command is running

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h(ctx, bash)
	if want := "run sh: all 1 slots are taken"; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a call without time left: error %v; want %s", err, want)
	}
	if err := os.WriteFile(fifo+".go", []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Errorf("the first call failed: %v", err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An agent can't disable a hook with an id that a variable can't contain.
func TestNULInAnIDIsNoFailure(t *testing.T) {
	t.Parallel()
	h := handler(t, `cat > /dev/null; printf '{"action":"deny","reason":"%s"}' "$HOOK_EVENT_ID"`, exechook.Config{})
	ev := bash
	ev.ID, ev.Extensions = "a\x00b", map[string]string{"traceparent": "\x00"}
	got, err := h(t.Context(), ev)
	if err != nil || got.Action != chain.Deny || got.Reason != "a\ufffdb" {
		t.Errorf("%+v, %v", got, err)
	}
}
