package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/testkit"
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
	if !strings.Contains(out, "NATS    "+s.ClientURL()+" (from NATS_URL;") || !strings.Contains(log, "joining the NATS server that NATS_URL names") {
		t.Errorf("the output and the log do not say that it is on %s:\n%s%s", s.ClientURL(), out, log)
	}
}

func TestNATSURLIsNotJoinedWhereAServerIsWantedHere(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("NATS_URL", "nats://127.0.0.1:1")
	out, log := ready(t, "--nats-listen", "127.0.0.1:0")
	if strings.Contains(out, "127.0.0.1:1\n") || !strings.Contains(log, `"reason":"--nats-listen is given, so a NATS server is started here","nats_url":"nats://127.0.0.1:1"`) {
		t.Errorf("want a server here, and that the log says so:\n%s%s", out, log)
	}
	out, log = ready(t, "up", "--no-browser", "--nats-listen", "127.0.0.1:0")
	if strings.Contains(out, "127.0.0.1:1\n") || !strings.Contains(log, `"msg":"NATS_URL is not used,`) || !strings.Contains(out, "export NATS_URL=nats://127.0.0.1:") {
		t.Errorf("want a server of up's own, and how to reach it:\n%s%s", out, log)
	}
}

// TestUpAgainInTheShellThatItPrepared: up says what to export, and takes it for its own address.
func TestUpAgainInTheShellThatItPrepared(t *testing.T) {
	dir := t.TempDir()
	at := testkit.FreeAddrs(t, 1)[0]
	out, _ := ready(t, "up", "--no-browser", "--store-dir", dir, "--nats-listen", at)
	_, line, found := strings.Cut(out, "export NATS_URL=")
	url, _, _ := strings.Cut(line, "\n")
	if !found || url != "nats://"+at {
		t.Fatalf("it says to export %q:\n%s", url, out)
	}
	t.Setenv("NATS_URL", url)
	if _, log := ready(t, "up", "--no-browser", "--store-dir", dir, "--nats-listen", at); strings.Contains(log, "NATS_URL") {
		t.Errorf("it finds something to say about its own address:\n%s", log)
	}
}

// TestUpHelpsWithWhatItTakes: it joins no NATS server, and its help names no flag for one.
func TestUpHelpsWithWhatItTakes(t *testing.T) {
	t.Parallel()
	for command, has := range map[string]bool{"serve": true, "up": false} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{command, "--help"}, &out, &out, signals.Signals{}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if strings.Contains(text, "--nats-url=URL") != has || strings.Contains(text, "Default: NATS_URL") != has || !strings.Contains(text, "--nats-listen=") {
			t.Errorf("%s --help:\n%s", command, &out)
		}
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
