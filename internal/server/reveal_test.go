package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// The secrets in an approval request are masked for everybody. Who may reveal them is shown
// them once that is recorded, and nobody else is.
func TestSecretsAreRevealedToWhomMay(t *testing.T) {
	t.Parallel()
	ann, bob := strings.Repeat("a", 30), strings.Repeat("b", 30)
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", ConsoleToken: "ann:" + ann + ",bob:" + bob, Console: console.Options{MayReveal: []string{"ann"}}})
	hook, agent := connect(t, s.InProcess()), connect(t, s.InProcess())
	if _, err := hook.QueueSubscribe("hooks.call.guard", "guard", func(m *nats.Msg) {
		_ = m.Respond([]byte(`{"action":"ask_user","approval_prompt":"Run with ` + loggedSecret + `?"}`))
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Request("hooks.register.guard", []byte(`{"events":["tool:pre"]}`), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	records, err := agent.SubscribeSync("hooks.audit.w.>")
	if err != nil {
		t.Fatal(err)
	}
	m, err := agent.RequestMsg(&nats.Msg{Subject: "hooks.execute.tool.pre", Header: nats.Header{"Hook-Wait-Ms": {"0"}}, Data: []byte(`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"curl -H ` + loggedSecret + `"}}`)}, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var pending struct{ Approval struct{ ID string } }
	if err := json.Unmarshal(m.Data, &pending); err != nil || pending.Approval.ID == "" {
		t.Fatalf("%v: %s", err, m.Data)
	}
	at := "http://" + s.HTTPAddr() + "/v1/approvals/" + pending.Approval.ID
	shown, err := agent.Request("hooks.approval."+pending.Approval.ID, nil, 20*time.Second)
	if err != nil || strings.Contains(string(shown.Data), loggedSecret) || !strings.Contains(string(shown.Data), "[REDACTED:") {
		t.Errorf("over NATS it is shown as %s, %v", shown.Data, err)
	}
	for _, page := range []string{at, at + "/view"} {
		if code, body := withToken(t, page, ann); code != http.StatusOK || strings.Contains(body, loggedSecret) || !strings.Contains(body, "[REDACTED:") {
			t.Errorf("%s: %d %s", page, code, body)
		}
	}
	reveal := func(token string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/reveal", nil)
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
	if code, body := reveal(bob); code != http.StatusForbidden || strings.Contains(body, loggedSecret) {
		t.Errorf("who may not: %d %s", code, body)
	}
	if code, body := reveal(ann); code != http.StatusOK || !strings.Contains(body, loggedSecret) {
		t.Errorf("who may: %d %s", code, body)
	}
	for {
		record, err := records.NextMsg(20 * time.Second)
		if err != nil {
			t.Fatalf("it is not recorded: %v", err)
		}
		if text := string(record.Data); strings.Contains(text, `"kind":"approval.revealed"`) {
			if !strings.Contains(text, `"by":"console ann"`) || strings.Contains(text, "bob") || strings.Contains(text, loggedSecret) {
				t.Errorf("the record is %s", text)
			}
			return
		}
	}
}
