package testkit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Process is a program that a test started. It is killed when the test ends.
type Process struct {
	Cmd *exec.Cmd

	ready, ended chan struct{}
	err          error // how the process ended; set before ended is closed
	log          tail

	mu    sync.Mutex
	out   strings.Builder // its standard output until it was ready
	since time.Time
	took  time.Duration // until it was ready
}

// Start starts a program that is ready when it writes a line with the text ready to standard
// output. If after is not nil, it is called with each later line. If the command's Stderr is set,
// it gets the standard error.
func Start(t testing.TB, cmd *exec.Cmd, ready string, after func(line string)) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, ready: make(chan struct{}), ended: make(chan struct{}), since: time.Now()}
	log := []io.Writer{&p.log}
	if cmd.Stderr != nil {
		log = append(log, cmd.Stderr)
	}
	if os.Getenv("HOOKROUTER_TEST_LOG") != "" {
		log = append(log, os.Stderr)
	}
	cmd.Stderr = io.MultiWriter(log...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.follow(stdout, ready, after)
	t.Cleanup(func() { _ = p.End(t, os.Kill) })
	return p
}

func (p *Process) follow(stdout io.Reader, ready string, after func(string)) {
	defer close(p.ended)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		p.mu.Lock()
		p.out.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		if strings.Contains(lines.Text(), ready) {
			p.took = time.Since(p.since)
			close(p.ready)
			break
		}
	}
	for after != nil && lines.Scan() {
		after(lines.Text())
	}
	_, _ = io.Copy(io.Discard, stdout)
	p.err = p.Cmd.Wait()
}

// Ready waits until the process is ready. It returns false if the process or ctx ends first.
func (p *Process) Ready(ctx context.Context) bool {
	select {
	case <-p.ready:
	case <-p.ended:
	case <-ctx.Done():
	}
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// MustBeReady waits until the process is ready, and fails the test if it does not get ready.
func (p *Process) MustBeReady(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if !p.Ready(ctx) {
		t.Fatalf("%s did not get ready\n%s", p.Cmd.Path, p.Stderr())
	}
}

// Startup returns the time until the process was ready. Call it after [Process.Ready].
func (p *Process) Startup() time.Duration { return p.took }

// End sends a signal and waits until the process has ended. It may be called again. The error says
// how the process ended.
func (p *Process) End(t testing.TB, s os.Signal) error {
	t.Helper()
	_ = p.Cmd.Process.Signal(s)
	const drained = 40 * time.Second // a router takes up to 30 s
	timer := time.NewTimer(drained)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		t.Errorf("process %d did not end after %v", p.Cmd.Process.Pid, s)
		_ = p.Cmd.Process.Kill()
		<-p.ended
	}
	return p.err
}

// Pid returns the id of the process.
func (p *Process) Pid() string { return strconv.Itoa(p.Cmd.Process.Pid) }

// Resident returns the resident memory of the process, in KB. It skips the test on systems where it
// can't be read.
func (p *Process) Resident(t testing.TB) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("memory is read from /proc")
	}
	status, err := os.ReadFile("/proc/" + p.Pid() + "/status")
	if err != nil {
		t.Fatal(err)
	}
	var kb int
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("read the memory of process %s: %v", p.Pid(), err)
	}
	return kb
}

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Stdout returns the standard output until the process was ready.
func (p *Process) Stdout() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// Stderr returns the end of the standard error.
func (p *Process) Stderr() string { return p.log.String() }

// Find returns the first group of a pattern in [Process.Stdout], and fails the test if the pattern
// does not match.
func (p *Process) Find(t testing.TB, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(p.Stdout())
	if m == nil {
		t.Fatalf("no %s in the output of %s:\n%s\n%s", pattern, p.Cmd.Path, p.Stdout(), p.Stderr())
	}
	return m[1]
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 16 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(len(t.text)-most, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
