package nats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every endpoint that takes an event or a name answers 400 for one that is malformed.
func TestMalformedNames(t *testing.T) {
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	tooLong := strings.Repeat("x.", 12) + "x"
	for _, subject := range []string{
		"hooks.emit." + tooLong, "hooks.execute." + tooLong, "hooks.collect." + tooLong, "hooks.explain." + tooLong,
		"hooks.emit.tool.pré", "hooks.execute.tool.pré", "hooks.collect.tool.pré", "hooks.explain.tool.pré",
		"hooks.register.ümlaut", "hooks.unregister.ümlaut", "hooks.contributions.ümlaut", "hooks.handlers.ümlaut",
	} {
		if code := request(t, nc, subject, `{}`, nil); code != "400" {
			t.Errorf("%s: code %q, want 400", subject, code)
		}
	}
}

// What is wrong with a request's headers is said before anything is done.
func TestMalformedHeaders(t *testing.T) {
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	for name, header := range map[string]nats.Header{
		"a time-out that is no number": {"Hook-Timeout-Ms": {"soon"}},
		"a time-out of nothing":        {"Hook-Timeout-Ms": {"0"}},
		"a wait that is no number":     {"Hook-Wait-Ms": {"-1"}},
		"default fields that no JSON":  {"Hook-Defaults": {"{"}},
	} {
		for _, verb := range []string{"emit", "execute", "collect"} {
			if code := request(t, nc, "hooks."+verb+".tool.pre", `{}`, header); code != "400" {
				t.Errorf("%s, %s: code %q, want 400", name, verb, code)
			}
		}
	}
	if code := request(t, nc, "hooks.emit.tool.pre", `{}`, nats.Header{"Hook-Defaults": {`{"x":"` + strings.Repeat("x", 9000) + `"}`}}); code != "413" {
		t.Errorf("large default fields: code %q, want 413", code)
	}
}

func request(t *testing.T, nc *nats.Conn, subject, body string, header nats.Header) (code string) {
	t.Helper()
	reply, err := nc.RequestMsg(&nats.Msg{Subject: subject, Header: header, Data: []byte(body)}, 5*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	return reply.Header.Get("Nats-Service-Error-Code")
}
