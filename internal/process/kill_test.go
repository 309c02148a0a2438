package process_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// held makes a named pipe. Who holds it open is known by it.
func held(t *testing.T) string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return fifo
}

// open waits until a process has opened the pipe.
func open(t *testing.T, fifo string) *os.File {
	t.Helper()
	pipe, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return pipe
}

// wantGone fails unless the processes that hold the pipe end.
func wantGone(t *testing.T, pipe *os.File) {
	t.Helper()
	if err := pipe.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(pipe); err != nil {
		t.Errorf("a process is still alive: %v", err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		killed bool
	}{
		"a program whose time is over, with its children": {`exec 9>"$1"; sleep 1000 & sleep 1000`, true},
		"children that ignore signals":                    {`exec 9>"$1"; trap '' TERM INT HUP; sleep 1000 & sleep 1000`, true},
		"children in a session of their own":              {`exec 9>"$1"; setsid sleep 1000 & sleep 1000`, true},
		"a daemon, whose parents have ended":              {`(setsid sh -c 'exec 9>"$1"; sleep 1000; true' sh "$1" &); sleep 1000`, true},
		"children of a program that ended":                {`exec 9>"$1"; sleep 1000 >/dev/null & exit 0`, false},
		"children that hold its output":                   {`exec 9>"$1"; sleep 1000 & exit 0`, false},
	} {
		t.Run(name, func(t *testing.T) {
			fifo := held(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := shell(t, c.script, fifo).Run(ctx)
				ended <- err
			}()
			pipe := open(t, fifo)
			if c.killed {
				cancel()
			}
			if err := <-ended; errors.Is(err, context.Canceled) != c.killed {
				t.Errorf("error %v", err)
			}
			wantGone(t, pipe)
		})
	}
}

func TestWhatPrintsTooMuchIsKilledWithItsChildren(t *testing.T) {
	fifo := held(t)
	talker := shell(t, `exec 9>"$1"; setsid sleep 1000 & exec yes`, fifo)
	talker.MaxOutput = 10
	ended := make(chan error, 1)
	go func() {
		_, err := talker.Run(t.Context())
		ended <- err
	}()
	pipe := open(t, fifo)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	wantGone(t, pipe)
}

// TestASessionOfItsOwnLivesOn is how a program starts what is to outlive it.
func TestASessionOfItsOwnLivesOn(t *testing.T) {
	fifo := held(t)
	pid := make(chan string, 1)
	go func() {
		out, err := shell(t, `exec 9>"$1"; setsid sleep 1000 >/dev/null 9>&9 & echo $!`, fifo).Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		pid <- strings.TrimSpace(string(out.Text))
	}()
	pipe := open(t, fifo)
	id, err := strconv.Atoi(<-pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	wantGone(t, pipe)
}

// TestAProgramDiesWithWhoRunsIt kills another process of this test.
func TestAProgramDiesWithWhoRunsIt(t *testing.T) {
	const asked = "TEST_HELD"
	if fifo := os.Getenv(asked); fifo != "" {
		_, err := shell(t, `exec 9>"$1"; exec sleep 1000`, fifo).Run(t.Context())
		t.Fatal(err)
	}
	fifo := held(t)
	runner := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	runner.Env = append(os.Environ(), asked+"="+fifo)
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	pipe := open(t, fifo)
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait()
	wantGone(t, pipe)
}
