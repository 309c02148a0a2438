package integration

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// TestAnAgentDoesNotBecomeNobody: a frozen agent hides who it is in its headers. Nobody is
// frozen, so that it would be permitted.
func TestAnAgentDoesNotBecomeNobody(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/nats.conf"
	if err := os.WriteFile(file, []byte(`accounts {
		ROUTERS { jetstream: enabled, users: [{user: router, password: secret}], exports: [{service: "hooks.execute.>"}] }
		TENANT { users: [{user: agent, password: secret}], imports: [{service: {account: ROUTERS, subject: "hooks.execute.>"}, share: true}] }
	}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := plainServer(t, o)
	routertest.Start(t, nil, router.Options{Accounts: true}, natsx.Options{URL: login(s, "router")})
	ctx := testkit.Within(t, 30*time.Second)
	nc := as(t, s, "router")
	if m := request(t, ctx, nc, "hooks.freeze", nil, `{"agent":"nats TENANT/agent","reason":"leaked token"}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	if m := request(t, ctx, nc, "hooks.execute.tool.pre", nil, `{}`); !strings.Contains(string(m.Data), `"action":"continue"`) {
		t.Errorf("whoever is in the routers' account is answered %v %s", m.Header, m.Data)
	}
	const version = "NATS/1.0\r\n"
	for sentence, header := range map[string]string{
		"beside the server's header":   version + "Nats-Request-Info: {}",
		"before a bare blank line":     version + "A: b\n\r\nA: b",
		"before one, with much hidden": version + "A: b\n\n" + strings.Repeat("x", 200),
		"in a line without an end":     version + "A: b\r\n\r\nA: bcd",
		"in another spelling":          version + "nats-request-info: {}",
		"as a value":                   version + "A: Nats-Request-Info",
		"in a name":                    version + "X\nNats-Request-Info: {}",
	} {
		t.Run(sentence, func(t *testing.T) {
			got := smuggle(t, ctx, s, "agent", "hooks.execute.tool.pre", header, `{"session_id":"s1"}`)
			if !strings.Contains(got, "Frozen by an operator") && !strings.Contains(got, "Nats-Service-Error-Code: 403") {
				t.Errorf("answered with %s", got)
			}
		})
	}
}
