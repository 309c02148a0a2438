package command_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/builtin/command"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	program, err := command.Find("", "sh")
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := command.Command{Program: program, Args: []string{"-c", "echo hello; exit 3"}}.Run(context.Background())
	fmt.Printf("%s%d %v\n", out.Text, out.Code, err)
	// Output:
	// hello
	// 3 <nil>
}

func shell(t *testing.T, script string, args ...string) command.Command {
	t.Helper()
	program, err := command.Find("", "sh")
	if err != nil {
		t.Fatal(err)
	}
	return command.Command{Program: program, Args: append([]string{"-c", script, "sh"}, args...)}
}

func TestTheOutput(t *testing.T) {
	t.Setenv("SECRET", "s3cret")
	for name, c := range map[string]struct {
		script string
		set    func(*command.Command)
		want   string
	}{
		"without the standard error":    {"echo a; echo b >&2", nil, "a\n"},
		"with it":                       {"echo a; echo b >&2", func(c *command.Command) { c.Both = true }, "a\nb\n"},
		"no variable but those allowed": {`echo "$SECRET$MINE"`, func(c *command.Command) { c.Env = []string{"MINE=x"} }, "x\n"},
		"where it is told to run":       {"pwd", func(c *command.Command) { c.Dir = "/" }, "/\n"},
		"nothing to read":               {"cat", nil, ""},
	} {
		cmd := shell(t, c.script)
		if c.set != nil {
			c.set(&cmd)
		}
		out, err := cmd.Run(t.Context())
		if err != nil || string(out.Text) != c.want || out.Cut || out.Code != 0 {
			t.Errorf("%s: %q %+v, %v; want %q", name, out.Text, out, err, c.want)
		}
	}
}

func TestTooMuchOutputIsCut(t *testing.T) {
	for name, script := range map[string]string{"a program": "exec yes", "its child": "yes; true", "one byte": "printf 12345678901; sleep 1000"} {
		cmd := shell(t, script)
		cmd.MaxOutput = 10
		if out, err := cmd.Run(t.Context()); err != nil || !out.Cut || len(out.Text) != 10 {
			t.Errorf("%s: %q, %v; want 10 bytes that are cut", name, out.Text, err)
		}
	}
}

// TestNothingIsLeftBehind reads from a pipe until no process has it open.
func TestNothingIsLeftBehind(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		killed bool
	}{
		"a program whose time is over, with its children": {`exec 9>"$1"; sleep 1000 & sleep 1000`, true},
		"children of a program that ended":                {`exec 9>"$1"; sleep 1000 >/dev/null & exit 0`, false},
		"children that hold its output":                   {`exec 9>"$1"; sleep 1000 & exit 0`, false},
	} {
		t.Run(name, func(t *testing.T) {
			fifo := filepath.Join(t.TempDir(), "held")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := shell(t, c.script, fifo).Run(ctx)
				ended <- err
			}()
			pipe, err := os.Open(fifo) // the program runs
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			if c.killed {
				cancel()
			}
			if err := <-ended; errors.Is(err, context.Canceled) != c.killed {
				t.Errorf("error %v", err)
			}
			if err := pipe.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(pipe); err != nil {
				t.Errorf("a process is still alive: %v", err)
			}
		})
	}
}

func TestASignalIsAnError(t *testing.T) {
	if out, err := shell(t, "kill -SEGV $$").Run(t.Context()); err == nil || !strings.Contains(err.Error(), "segmentation fault") {
		t.Errorf("%+v, %v; want an error that names the signal", out, err)
	}
}

func TestFindSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "good": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"no-such-program-anywhere": "no such program in PATH", "./nothing": "there is no such program", "./plain": "chmod +x", "": "is missing",
	} {
		if _, err := command.Find(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", name, err, want)
		}
	}
	if path, err := command.Find(dir, "./good"); err != nil || path != filepath.Join(dir, "good") {
		t.Errorf("%s, %v", path, err)
	}
}
