package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// startNode runs a whole node: server, router, console, webhooks.
func startNode(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.StoreDir, o.HTTPListen = natstest.StoreDir(t), "127.0.0.1:0"
	ctx, stop := context.WithCancel(context.Background())
	n, err := server.Start(ctx, o)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- n.Run(ctx, func() { close(up) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	take(t, testkit.Within(t, 20*time.Second), up)
	return n
}

// overHTTP sends a request to the console's API.
func overHTTP(t *testing.T, n *server.Server, method, path, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(testkit.Within(t, 20*time.Second), method, "http://"+n.HTTPAddr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// An approval request is answered over HTTP, an outside program is told of it, and who
// answered is what the connection proves.
func TestAQuestionIsAnsweredOverHTTP(t *testing.T) {
	t.Parallel()
	news := make(chan string, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Signature") == "" {
			t.Error("it is not signed")
		}
		news <- string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	n := startNode(t, server.Options{
		Webhook: webhook.Options{URLs: []string{receiver.URL}, Secret: "whsec_" + strings.Repeat("QUJD", 10)},
		Router:  router.Options{},
	})
	nc := natstest.Conn(t, n.InProcess())
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	waiting := execute(t, ctx, nc, event("e1"), `{"tool_name":"Bash","tool_input":{"command":"x"}}`)
	required := take(t, ctx, news)
	if !strings.Contains(required, `"approval:required"`) || strings.Contains(required, `"command"`) {
		t.Errorf("told %s", required)
	}
	var told struct {
		Approval struct {
			ID     string `json:"id"`
			Digest string `json:"data_sha256"`
		} `json:"approval"`
	}
	if err := json.Unmarshal([]byte(required), &told); err != nil || told.Approval.ID == "" {
		t.Fatalf("%v: %s", err, required)
	}
	path := "/v1/approvals/" + told.Approval.ID
	if status, _ := overHTTP(t, n, http.MethodGet, path, "", ""); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	if status, _ := overHTTP(t, n, http.MethodPost, path, strings.Repeat("x", 43), `{"option":"Allow once"}`); status != http.StatusUnauthorized {
		t.Errorf("with a guessed token: %d", status)
	}
	token := n.ConsoleToken()
	if status, body := overHTTP(t, n, http.MethodGet, path, token, ""); status != http.StatusOK || !strings.Contains(body, `"command":"x"`) {
		t.Errorf("%d %s", status, body)
	}
	for body, want := range map[string]int{
		`{"option":"Perhaps"}`: http.StatusBadRequest,
		`{"option":"Deny","data_sha256":"` + strings.Repeat("0", 64) + `"}`: http.StatusConflict,
	} {
		if status, text := overHTTP(t, n, http.MethodPost, path, token, body); status != want {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	answer := `{"option":"allow once","by":"ann","data_sha256":"` + told.Approval.Digest + `"}`
	if status, body := overHTTP(t, n, http.MethodPost, path, token, answer); status != http.StatusOK || !strings.Contains(body, `"accepted"`) {
		t.Errorf("%d %s", status, body)
	}
	if v := take(t, ctx, waiting); v.Action != verdict.Continue || v.Approval.DecidedBy != "console token" {
		t.Errorf("verdict %+v %+v", v, v.Approval)
	}
	if status, body := overHTTP(t, n, http.MethodPost, path, token, answer); status != http.StatusConflict || !strings.Contains(body, "Allow once") {
		t.Errorf("again: %d %s", status, body)
	}
	if resolved := take(t, ctx, news); !strings.Contains(resolved, `"approval:resolved"`) || !strings.Contains(resolved, `"granted":true`) {
		t.Errorf("told %s", resolved)
	}
	if status, body := overHTTP(t, n, http.MethodGet, "/v1/registry", token, ""); status != http.StatusOK || !bytes.Contains([]byte(body), []byte(`"id":"asks"`)) {
		t.Errorf("registry: %d %s", status, body)
	}
	if status, _ := overHTTP(t, n, http.MethodGet, "/readyz", "", ""); status != http.StatusOK {
		t.Errorf("ready: %d", status)
	}
}
