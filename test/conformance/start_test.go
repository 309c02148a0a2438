package conformance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// The router under test may run elsewhere: these name its server and its prefix,
// or several prefixes with a comma between them, each with a router of its own.
const (
	envURL    = "HOOKROUTER_NATS_URL"
	envPrefix = "HOOKROUTER_PREFIX"
)

// lanes are the prefixes among which the suite is divided.
func lanes(t *testing.T) []string {
	t.Helper()
	if os.Getenv(envURL) == "" {
		n := 20 // they wait for time-outs
		if testkit.CurrentTier(t) > testkit.Smoke {
			n = 12 // the race detector makes routers slow
		}
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint("lane", i)
		}
		return list
	}
	if prefixes := os.Getenv(envPrefix); prefixes != "" {
		return strings.Split(prefixes, ",")
	}
	return []string{"hooks"}
}

// starter returns how to get a router that serves a prefix and that nobody else
// uses: one on an embedded server, or the one that runs elsewhere. Everything is
// stopped when t is over.
func starter(t *testing.T) func(prefix string) Target {
	t.Helper()
	if url := os.Getenv(envURL); url != "" {
		return func(prefix string) Target {
			conn, err := nats.Connect(url)
			if err != nil {
				t.Fatalf("connect to %s: %v", url, err)
			}
			t.Cleanup(conn.Close)
			return Target{Conn: conn, Prefix: prefix}
		}
	}
	server := natstest.Server(t)
	return func(prefix string) Target {
		routertest.Start(t, server, router.Options{}, natsx.Options{Prefix: prefix})
		return Target{Conn: natstest.Conn(t, server), Prefix: prefix}
	}
}
