package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// The console's history, search and recent events are read from the log, without secrets,
// and only who may audit searches.
func TestTheConsoleReadsTheLog(t *testing.T) {
	t.Parallel()
	ann, bob := strings.Repeat("a", 30), strings.Repeat("b", 30)
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{
		StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", ConsoleToken: "ann:" + ann + ",bob:" + bob, Console: console.Options{MayAudit: []string{"ann"}},
		Router: router.Options{Audit: auditlog.Options{Key: key, View: recorder.View{Data: recorder.Full}}},
	}
	s, stop := run(t, o)
	hook, agent := connect(t, s.InProcess()), connect(t, s.InProcess())
	if _, err := hook.QueueSubscribe("hooks.call.guard", "guard", func(m *nats.Msg) {
		answer := `{"action":"ask_user","approval_prompt":"Run with ` + loggedSecret + `?"}`
		if strings.Contains(string(m.Data), "rm -rf") {
			answer = `{"action":"deny","reason":"not with ` + loggedSecret + `"}`
		}
		_ = m.Respond([]byte(answer))
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Request("hooks.register.guard", []byte(`{"events":["tool:pre"]}`), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	send := func(command string) *nats.Msg {
		t.Helper()
		m, err := agent.RequestMsg(&nats.Msg{
			Subject: "hooks.execute.tool.pre", Header: nats.Header{"Hook-Wait-Ms": {"0"}},
			Data: []byte(`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"` + command + ` ` + loggedSecret + `"}}`),
		}, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	chain := send("rm -rf /").Header.Get("Hook-Chain-Id")
	var pending struct{ Approval struct{ ID string } }
	if m := send("deploy"); json.Unmarshal(m.Data, &pending) != nil || pending.Approval.ID == "" {
		t.Fatalf("%s", m.Data)
	}
	base := "http://" + s.HTTPAddr() + "/v1/"
	answer(t, base+"approvals/"+pending.Approval.ID, bob, `{"option":"Deny","note":"`+loggedSecret+`"}`)

	type request struct {
		path, token string
		code        int
		has, lacks  string
	}
	check := func(name string, test request) {
		t.Helper()
		var code int
		var body string
		within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		testkit.Soon(within, func() bool { // a record comes a moment later
			code, body = withToken(t, base+test.path, test.token)
			return code != test.code || strings.Contains(body, test.has)
		})
		cancel()
		if code != test.code || !strings.Contains(body, test.has) || strings.Contains(body, test.lacks) {
			t.Errorf("%s: %d %s", name, code, body)
		}
		if strings.Contains(body, loggedSecret) {
			t.Errorf("%s: it shows a secret: %s", name, body)
		}
	}
	for name, test := range map[string]request{
		"who answers sees what was answered":  {"history", bob, 200, `"decided_by":"console bob"`, `"more":true`},
		"a history of one":                    {"history?by=BOB&action=deny&hook=guard&limit=1", bob, 200, `"id":"` + pending.Approval.ID, `"more":true`},
		"a history of another verdict":        {"history?action=allow", bob, 200, `"decisions":[]`, "Run with"},
		"a history of somebody else":          {"history?by=ann", bob, 200, `"decisions":[]`, "Run with"},
		"a history of another time":           {"history?until=2020-01-01T00:00:00Z&since=2019-01-01T00:00:00Z", bob, 200, `"decisions":[]`, "Run with"},
		"an auditor finds a denial":           {"audit?action=deny", ann, 200, `"chain_id":"` + chain + `"`, "deploy"},
		"an auditor finds what a hook did":    {"audit?hook=guard", ann, 200, `"kind":"hook.result"`, "chain.result"},
		"an auditor finds nothing of another": {"audit?session_id=s2", ann, 200, `"records":[]`, chain},
		"an odd event is refused":             {"audit?event=%20", ann, 400, `event`, chain},
		"an odd parameter is refused":         {"audit?x=1", ann, 400, `no parameter`, chain},
		"who only answers does not search":    {"audit?action=deny", bob, 403, "--console-audit", chain},
		"who only answers learns no state":    {"audit/state", bob, 403, "--console-audit", "origin"},
		"recent events":                       {"recent", bob, 200, `"hooks":[{"id":"guard","action":"deny"`, "null"},
		"rights":                              {"session", ann, 200, `{"who":"console ann","may":["audit"]}`, "freeze"},
		"rights of another":                   {"session", bob, 200, `{"who":"console bob","may":[]}`, "audit"},
	} {
		check(name, test)
	}
	if err := stop(); err != nil { // it signs its last records: sooner than a second after its start
		t.Fatal(err)
	}
	s, _ = run(t, o)
	base = "http://" + s.HTTPAddr() + "/v1/"
	check("an auditor sees the state of the log", request{"audit/state", ann, 200, `"signed":{"by":"`, `"problem"`})
}

func answer(t *testing.T, url, token, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Fatalf("the answer is refused: %s", resp.Status)
	}
}

// A page keeps its access over a restart of a router that makes its token, and needs that
// only where the key of sessions is gone.
func TestASessionOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir, key := natstest.StoreDir(t), filepath.Join(t.TempDir(), "store", "console.key")
	start := func(token, key string) (string, *server.Server, func()) {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := server.Start(ctx, server.Options{StoreDir: dir, HTTPListen: "127.0.0.1:0", ConsoleToken: token, ConsoleKey: key})
		if err != nil {
			t.Fatal(err)
		}
		up, down := make(chan struct{}), make(chan error, 1)
		go func() { down <- s.Run(ctx, func() { close(up) }) }()
		<-up
		return "http://" + s.HTTPAddr() + "/v1/session", s, func() {
			cancel()
			if err := <-down; err != nil {
				t.Error(err)
			}
		}
	}
	at, s, stop := start("", key)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+s.ConsoleToken())
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var opened struct{ Session string }
	err = json.NewDecoder(resp.Body).Decode(&opened)
	if _ = resp.Body.Close(); err != nil || opened.Session == "" {
		t.Fatalf("%v %s", err, resp.Status)
	}
	first := s.ConsoleToken()
	stop()
	for _, test := range []struct {
		name, token, key string
		code             int
	}{
		{"the same key", "", key, http.StatusOK},
		{"another key", "", filepath.Join(t.TempDir(), "console.key"), http.StatusUnauthorized},
		{"a token that an operator gave", strings.Repeat("o", 30), key, http.StatusUnauthorized},
	} {
		at, s, stop := start(test.token, test.key)
		if code, body := withToken(t, at, opened.Session); code != test.code {
			t.Errorf("%s: %d %s", test.name, code, body)
		}
		if s.ConsoleToken() == first {
			t.Errorf("%s: the token is the same", test.name)
		}
		stop()
	}
}
