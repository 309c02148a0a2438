package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// ready starts hook-router until it says where it is, and ends it.
func ready(t *testing.T, args ...string) (stdout, log string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	out, lines := &buffer{wrote: make(chan struct{}, 1)}, &bytes.Buffer{}
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append(args, "--http-listen", "127.0.0.1:0", "--agent-http-listen", ""), out, lines, signals.Signals{})
	}()
	select {
	case <-out.wrote:
	case err := <-done:
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return out.String(), lines.String()
}

func TestNATSURLIsJoined(t *testing.T) {
	t.Chdir(t.TempDir())
	s := natstest.Listening(t)
	t.Setenv("NATS_URL", s.ClientURL())
	out, log := ready(t, "--audit-key", "audit.key")
	if !strings.Contains(out, "NATS    "+s.ClientURL()+" (from NATS_URL;") || !strings.Contains(log, "from NATS_URL") {
		t.Errorf("the output and the log do not say that it is on %s:\n%s%s", s.ClientURL(), out, log)
	}
}

func TestNATSURLIsNotJoinedWhereAServerIsWantedHere(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("NATS_URL", "nats://127.0.0.1:1")
	out, log := ready(t, "--nats-listen", "127.0.0.1:0")
	if strings.Contains(out, "127.0.0.1:1\n") || !strings.Contains(log, "--nats-listen goes before NATS_URL") {
		t.Errorf("want a server here, and that the log says so:\n%s%s", out, log)
	}
	out, log = ready(t, "up", "--no-browser", "--nats-listen", "127.0.0.1:0")
	if strings.Contains(out, "127.0.0.1:1\n") || !strings.Contains(log, "before NATS_URL") || !strings.Contains(out, "export NATS_URL=nats://127.0.0.1:") {
		t.Errorf("want a server of up's own, and how to reach it:\n%s%s", out, log)
	}
}

func TestNATSURLMayNameTheServerThatIsStarted(t *testing.T) {
	for at, same := range map[string]bool{
		"nats://127.0.0.1:4222": true, "localhost": true, "nats://localhost": true, "tls://[::1]:4222": true, "nats://user:pw@127.0.0.1": true,
		"nats://127.0.0.1:4223": false, "nats://nats:4222": false, "nats://10.0.0.1:4222": false, "nats://127.0.0.1:4222,nats://b:4222": false, "\x00": false,
	} {
		if got := sameAddress(at, "127.0.0.1:4222"); got != same {
			t.Errorf("NATS_URL=%q is where a server here listens: %t; want %t", at, got, same)
		}
	}
	if !sameAddress("nats://127.0.0.1", "0.0.0.0:4222") || sameAddress("nats://10.0.0.1", "127.0.0.1:4222") {
		t.Error("all addresses of the machine have its loopback, and loopback has no other")
	}
}
