package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

const envLocal = "SERVER_TEST_LOCAL"

// Another user gets nothing from the socket for hook-agents, which asks for no token.
func TestTheLocalServerIsForItsOwnUser(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(envLocal); name != "" {
		fmt.Println(askLocally(t.Context(), name))
		return
	}
	dir := t.TempDir()
	s, err := server.Start(t.Context(), server.Options{
		NATS: natsx.Options{Prefix: "hooks"}, Listen: "127.0.0.1:0", StoreDir: dir, AuthDir: filepath.Join(dir, "auth"),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Run(ctx, func() { close(up) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	testkit.Closed(t, "the router to be up", up)
	name := supervisor.LocalName(s.ClientURL())
	if got := askLocally(t.Context(), name); got == 0 {
		t.Error("its own user gets nothing")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	c := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^"+t.Name()+"$")
	c.ExtraFiles, c.Dir, c.Env = []*os.File{program}, "/", []string{envLocal + "=" + name}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.Output()
	if err != nil || len(out) == 0 || out[0] != '0' {
		t.Errorf("another user gets %q, %v", out, err)
	}
}

// askLocally returns how many bytes the local server answers.
func askLocally(ctx context.Context, name string) int {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", name)
	if err != nil {
		return -1
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST /v1/agents/claude-code HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	said, _ := io.ReadAll(c)
	return len(said)
}
