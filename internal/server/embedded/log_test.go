package embedded_test

import (
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// lines counts the lines of a log.
type lines struct{ atomic.Int64 }

func (l *lines) Write(line []byte) (int, error) { l.Add(1); return len(line), nil }

// A client sends without end what it may not: the log keeps room for other lines, and the flood is
// reported.
func TestRefusedMessagesDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := identity.Ensure(filepath.Join(dir, "auth"), "test")
	if err != nil {
		t.Fatal(err)
	}
	i, err := a.Add(identity.Identity{Name: "loud", Role: identity.Agent})
	if err != nil {
		t.Fatal(err)
	}
	var log lines
	var floods atomic.Int64
	files := a.Files()
	s := start(t, embedded.Options{
		Listen: "127.0.0.1:0", StoreDir: dir, NoSync: true, Log: slog.New(slog.NewTextHandler(&log, nil)), Flooded: func() { floods.Add(1) },
		Auth: embedded.Auth{OperatorJWT: files.Operator, Accounts: files.Accounts, Routers: files.Routers, State: files.State},
	})
	nc := natstest.Dial(t, s.ClientURL(), nats.UserCredentials(a.CredsFile(i)), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	began, sent := time.Now(), 0
	testkit.Eventually(t, "the flood to be reported", func() bool {
		for range 2000 {
			if err := nc.Publish("test.freeze", nil); err != nil {
				t.Fatal(err)
			}
		}
		sent += 2000
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		return floods.Load() > 0
	})
	if n, most := log.Load(), 21*int64(time.Since(began).Seconds()+2); n == 0 || n > most {
		t.Errorf("%d lines about %d messages; want some, and at most %d", n, sent, most)
	}
}
