package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/webhook"
)

// The person who is told second answers through the link in the webhook, without a token,
// and the agent gets the answer. Nobody is told the request's secrets.
func TestALinkInAWebhookAnswersTheAgent(t *testing.T) {
	t.Parallel()
	told := make(chan []byte, 10)
	bridge := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- body
	}))
	t.Cleanup(bridge.Close)
	s, _ := run(t, server.Options{
		StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0",
		Webhook: webhook.Options{
			URLs:   []string{bridge.URL},
			Later:  []webhook.Escalation{{After: 50 * time.Millisecond, URL: bridge.URL}},
			Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Links: "https://hooks.example.com",
		},
	})
	hook := connect(t, s.InProcess())
	if _, err := hook.QueueSubscribe("hooks.call.guard", "guard", func(m *nats.Msg) {
		_ = m.Respond([]byte(`{"action":"ask_user","approval_prompt":"Deploy with ` + loggedSecret + `?","approval_options":["Allow once","Deny"]}`))
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Request("hooks.register.guard", []byte(`{"events":["tool:pre"]}`), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	agent, answered := connect(t, s.InProcess()), make(chan string, 1)
	go func() {
		m, err := agent.Request("hooks.execute.tool.pre", []byte(`{"session_id":"s1","tool_name":"Bash"}`), 20*time.Second)
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- string(m.Data)
	}()
	var asked struct {
		Approval struct {
			Links []struct{ Option, URL string }
		}
	}
	for _, who := range []string{"first", "second"} {
		select {
		case body := <-told:
			if err := json.Unmarshal(body, &asked); err != nil || len(asked.Approval.Links) != 2 {
				t.Fatalf("%v: %s", err, body)
			}
			if strings.Contains(string(body), loggedSecret) || !strings.Contains(string(body), "[REDACTED:") {
				t.Errorf("who is told %s gets a secret: %s", who, body)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nobody was told %s", who)
		}
	}
	link, err := url.Parse(asked.Approval.Links[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	page := "http://" + s.HTTPAddr()
	if code, body := request(t, "GET", page+link.Path, ""); code != http.StatusOK || !strings.Contains(body, "answer.js") {
		t.Errorf("the page of the link: %d %s", code, body)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page+"/v1/link", strings.NewReader(`{"by":"ann"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+link.Fragment)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the answer: %d", resp.StatusCode)
	}
	if got := <-answered; !strings.Contains(got, `"action":"continue"`) || !strings.Contains(got, `"decided_by":"approval link"`) {
		t.Errorf("the agent is answered %s", got)
	}
}
