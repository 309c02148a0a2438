package testkit_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// TestMain runs the tests, or is the process that one of them starts.
func TestMain(m *testing.M) {
	if os.Getenv("HOOKROUTER_TEST_ROLE") != "" {
		fmt.Println("port 4222\nis ready\nlater")
		fmt.Fprintln(os.Stderr, "a log line")
		select {}
	}
	goleak.VerifyTestMain(m)
}

// recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	failed, skipped string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs do with a test of its own, and returns that.
func record(t *testing.T, do func(testing.TB)) *recorder {
	t.Helper()
	r, done := &recorder{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		do(r)
	}()
	<-done
	return r
}

func TestUntil(t *testing.T) {
	asked := 0
	testkit.Eventually(t, "it was asked three times", func() bool { asked++; return asked == 3 })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	got := record(t, func(t testing.TB) { testkit.Until(t, ended, "pigs fly", func() bool { return false }) })
	if got.failed != "timed out waiting until pigs fly" {
		t.Errorf("it failed with %q", got.failed)
	}
}

func TestReceive(t *testing.T) {
	ch := make(chan int, 2)
	ch <- 1
	ch <- 2
	if n := testkit.Receive(t, "a number", ch); n != 1 {
		t.Errorf("received %d", n)
	}
	close(ch)
	testkit.Closed(t, "the end", ch)
	got := record(t, func(t testing.TB) { testkit.Receive(t, "a number", ch) })
	if got.failed != "the channel is closed, want a number" {
		t.Errorf("it failed with %q", got.failed)
	}
}

func TestWithin(t *testing.T) {
	var ctx context.Context
	t.Run("a test", func(t *testing.T) {
		ctx = testkit.Within(t, time.Hour)
		t.Cleanup(func() {
			if ctx.Err() != nil {
				t.Error("it ended before the cleanups")
			}
		})
	})
	if ctx.Err() == nil {
		t.Error("it outlives its test")
	}
}

func TestTierSelectsVolume(t *testing.T) {
	for _, tt := range []struct {
		tier, full string
		volume     int
		skipped    bool
	}{
		{"", "", 1, true},
		{"smoke", "", 1, true},
		{"ci", "", 10, false},
		{"full", "", 100, false},
		{"smoke", "1", 100, false},
	} {
		t.Setenv("HOOKROUTER_TEST_TIER", tt.tier)
		t.Setenv("HOOKROUTER_FULL", tt.full)
		if n := testkit.Volume(t, 1, 10, 100); n != tt.volume {
			t.Errorf("tier %q, full %q: %d", tt.tier, tt.full, n)
		}
		got := record(t, func(t testing.TB) { testkit.From(t, testkit.CI) })
		if (got.skipped != "") != tt.skipped {
			t.Errorf("tier %q, full %q: skipped with %q", tt.tier, tt.full, got.skipped)
		}
	}
	t.Setenv("HOOKROUTER_FULL", "")
	t.Setenv("HOOKROUTER_TEST_TIER", "huge")
	if got := record(t, func(t testing.TB) { testkit.CurrentTier(t) }); got.failed == "" {
		t.Error("a tier that does not exist is taken")
	}
}

func TestProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "HOOKROUTER_TEST_ROLE=any")
	later := make(chan string, 1)
	p := testkit.Start(t, cmd, "is ready", func(line string) { later <- line })
	p.MustBeReady(t)
	if port := p.Find(t, `port (\d+)`); port != "4222" || p.Startup() <= 0 {
		t.Errorf("port %s, ready after %v", port, p.Startup())
	}
	if line := testkit.Receive(t, "a later line", later); line != "later" {
		t.Errorf("the later line is %q", line)
	}
	testkit.Eventually(t, "the log line is there", func() bool { return strings.Contains(p.Stderr(), "a log line") })
	if err := p.End(t, os.Kill); err == nil {
		t.Error("a killed process ended without an error")
	}
	if !p.Ready(t.Context()) {
		t.Error("a process that was ready and has ended was never ready")
	}
	<-p.Ended()
}

func TestProgram(t *testing.T) {
	path := testkit.Program(t, "hook-router")
	if again := testkit.Program(t, "hook-router"); again != path {
		t.Errorf("built twice: %s and %s", path, again)
	}
	out, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput()
	if err != nil || len(out) == 0 {
		t.Errorf("%v: %s", err, out)
	}
}
