package mcpproxy_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// Where the proxy is killed, the server does not live on.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := program(t, "nats://127.0.0.1:1", "pid")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1000)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(buf[:n]), `"pid":`)
	number, _, _ := strings.Cut(after, "}")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("%s: %v", buf[:n], err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	testkit.Eventually(t, "the server has ended", func() bool { return gone(pid) })
}

// What a server has started ends with it.
func TestGrandchild(t *testing.T) {
	t.Parallel()
	s := open(t, "nats://127.0.0.1:1", "parent")
	_, after, _ := strings.Cut(s.next(), `"pid":`)
	number, _, _ := strings.Cut(after, "}")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.in.Close()
	testkit.Receive(t, "the end", s.ended)
	testkit.Eventually(t, "what it started has ended", func() bool { return gone(pid) })
}

// gone reports whether a process has ended; one that nobody waits for counts.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}
