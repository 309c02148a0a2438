package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// An agent that is denied gets the address of a page that tells why, and the page needs
// the token, which the agent has not.
func TestADenialLeadsToItsPage(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("secret", 6)
	s, _ := run(t, server.Options{
		StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", ConsoleToken: token,
		Router: router.Options{Dispatch: dispatch.Options{ConsoleURL: "https://hooks.example.com"}, Audit: auditlog.Options{View: recorder.View{Data: recorder.Full}}},
	})
	nc := connect(t, s.InProcess())
	hook := connect(t, s.InProcess())
	if _, err := hook.QueueSubscribe("hooks.call.guard", "guard", func(m *nats.Msg) {
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Hook-Rule": {"g.yaml:4 cel.rules[0]"}}, Data: []byte(`{"action":"deny","reason":"no"}`)})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Request("hooks.register.guard", []byte(`{"events":["tool:pre"]}`), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	for _, verb := range []string{"emit", "execute"} {
		m, err := nc.Request("hooks."+verb+".tool.pre", []byte(`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"curl -H `+secret+`"}}`), 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var told struct{ Reason string }
		if err := json.Unmarshal(m.Data, &told); err != nil {
			t.Fatal(err)
		}
		id := m.Header.Get("Hook-Chain-Id")
		if told.Reason != "no\nWhy: https://hooks.example.com/why/"+id {
			t.Errorf("%s: the agent is told %q", verb, told.Reason)
		}
		if strings.Contains(string(m.Data), "g.yaml") || strings.Contains(m.Header.Get("Hook-Rule"), "g.yaml") {
			t.Errorf("%s: the agent learns the rule: %v %s", verb, m.Header, m.Data)
		}
		page := "http://" + s.HTTPAddr() + "/v1/why?id=" + url.QueryEscape(id)
		if code, body := request(t, "GET", page, ""); code != http.StatusUnauthorized {
			t.Errorf("%s: without a token: %d %s", verb, code, body)
		}
		code, body := withToken(t, page, token)
		if code != http.StatusOK || !strings.Contains(body, `"rule":"g.yaml:4 cel.rules[0]"`) || !strings.Contains(body, `"reason":"no"`) {
			t.Errorf("%s: %d %s", verb, code, body)
		}
		if strings.Contains(body, secret) {
			t.Errorf("%s: the page shows a secret: %s", verb, body)
		}
	}
}

func withToken(t *testing.T, url, token string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
