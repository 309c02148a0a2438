package k8s

import (
	"bufio"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// running is a container's program.
type running struct {
	lines chan string // of its output
	seen  []string
}

// run starts a container's program. It is told to end with the test, and must do
// so well.
func (c *cluster) run(t *testing.T, workload, container string) *running {
	t.Helper()
	w := c.set.Workload(workload)
	c.mount(t, w)
	cmd := c.command(t, w, container)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{lines: make(chan string, 10_000)}
	go func() {
		defer close(r.lines)
		for lines := bufio.NewScanner(read); lines.Scan(); {
			r.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended badly: %v\n%s", container, err, strings.Join(r.seen, "\n"))
		}
		_ = write.Close()
	})
	return r
}

// says waits for a line that matches and gives its submatches.
func (r *running) says(t *testing.T, ctx context.Context, pattern string) []string {
	t.Helper()
	want := regexp.MustCompile(pattern)
	for _, line := range r.seen {
		if m := want.FindStringSubmatch(line); m != nil {
			return m
		}
	}
	for {
		select {
		case line, open := <-r.lines:
			if !open {
				t.Fatalf("it ended without saying %q:\n%s", pattern, strings.Join(r.seen, "\n"))
			}
			r.seen = append(r.seen, line)
			if m := want.FindStringSubmatch(line); m != nil {
				return m
			}
		case <-ctx.Done():
			t.Fatalf("it does not say %q:\n%s", pattern, strings.Join(r.seen, "\n"))
		}
	}
}
