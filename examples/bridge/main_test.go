package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// secret is the example of the libraries of Standard Webhooks.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// room keeps what it is sent.
type room struct {
	*httptest.Server
	got []string // "path token body"
}

func newRoom(t *testing.T) *room {
	r := &room{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.got = append(r.got, q.URL.Path+" "+q.Header.Get("Authorization")+" "+string(body))
		if strings.Contains(q.Header.Get("Authorization"), "used") {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":"it has its decision already"}`)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func start(t *testing.T) (b *bridge, chat, router *room) {
	chat, router = newRoom(t), newRoom(t)
	settings := map[string]string{
		"HOOK_ROUTER_WEBHOOK_SECRET": secret, "HOOK_ROUTER_CONSOLE_URL": router.URL, "NTFY_URL": chat.URL + "/agents",
		"SLACK_WEBHOOK_URL": chat.URL + "/slack", "SLACK_SIGNING_SECRET": "8f742231b10e", "SLACK_USERS": "U1=ann, U2=bob",
	}
	b = newBridge(func(name string) string { return settings[name] })
	b.slackAnswersBelow = chat.URL
	return b, chat, router
}

func deliver(b *bridge, body, key string, at time.Time) int {
	r := httptest.NewRequest(http.MethodPost, "/approvals", strings.NewReader(body))
	stamp := strconv.FormatInt(at.Unix(), 10)
	bytes, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whsec_"))
	mac := hmac.New(sha256.New, bytes)
	fmt.Fprintf(mac, "m1.%s.%s", stamp, body)
	r.Header.Set("webhook-id", "m1")
	r.Header.Set("webhook-timestamp", stamp)
	r.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	w := httptest.NewRecorder()
	b.handler().ServeHTTP(w, r)
	return w.Code
}

func TestRoomsAreToldWithButtons(t *testing.T) {
	b, chat, _ := start(t)
	const body = `{"type":"approval:required","approval":{"id":"q1","agent":"nats agent/coder","hook":"guard","prompt":"<!channel> Deploy?","links":[{"option":"Allow once","url":"https://h.test/answer#q1.0.x"},{"option":"Deny","url":"https://h.test/answer#q1.1.x"}]}}`
	if code := deliver(b, body, secret, time.Now()); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	if len(chat.got) != 2 || !strings.HasPrefix(chat.got[0], "/ ") || !strings.HasPrefix(chat.got[1], "/slack ") {
		t.Fatalf("told %q", chat.got)
	}
	for _, want := range []string{`"topic":"agents"`, `"title":"nats agent/coder waits for you (guard)"`, `"label":"Deny","url":"https://h.test/answer#q1.1.x"`} {
		if !strings.Contains(chat.got[0], want) {
			t.Errorf("ntfy got no %s: %s", want, chat.got[0])
		}
	}
	var sent struct {
		Blocks []struct {
			Text     struct{ Type, Text string }
			Elements []struct{ Value, URL string }
		}
	}
	if err := json.Unmarshal([]byte(strings.SplitN(chat.got[1], " ", 3)[2]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Blocks[0].Text.Type != "plain_text" || !strings.HasPrefix(sent.Blocks[0].Text.Text, "nats agent/coder waits. guard asks: ") || len(sent.Blocks[1].Elements) != 2 {
		t.Fatalf("Slack got %s", chat.got[1])
	}
	allow, deny := sent.Blocks[1].Elements[0], sent.Blocks[1].Elements[1]
	if allow.URL != "https://h.test/answer#q1.0.x" || allow.Value != "" || deny.Value != "https://h.test/answer#q1.1.x" || deny.URL != "" {
		t.Errorf("the buttons of Slack are %+v and %+v; want one that opens the page, and one that answers", allow, deny)
	}
}

func TestSlackTakes25ButtonsInARow(t *testing.T) {
	var m message
	for range 60 {
		m.Approval.Links = append(m.Approval.Links, link{"Deny", "https://h.test/answer#x"})
	}
	blocks, _ := slackMessage(m)["blocks"].([]map[string]any)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks; want the text and three rows", len(blocks))
	}
	for _, block := range blocks[1:] {
		if row, _ := block["elements"].([]map[string]any); len(row) == 0 || len(row) > 25 {
			t.Errorf("a row of %d buttons", len(row))
		}
	}
}

func TestAButtonThatOpensThePageAnswersNothing(t *testing.T) {
	b, chat, router := start(t)
	if code := press(b, b.slackKey, "U1", "", chat.URL+"/reply"); code != http.StatusOK || len(chat.got)+len(router.got) > 0 {
		t.Errorf("%d, told %q, answered %q", code, chat.got, router.got)
	}
}

func TestOnlyTheRouterIsHeard(t *testing.T) {
	b, chat, _ := start(t)
	const body = `{"type":"approval:required","approval":{"id":"q1"}}`
	if code := deliver(b, body, "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", time.Now()); code != http.StatusUnauthorized {
		t.Errorf("another key: %d", code)
	}
	if code := deliver(b, body, secret, time.Now().Add(-time.Hour)); code != http.StatusUnauthorized {
		t.Errorf("an hour late: %d", code)
	}
	if len(chat.got) > 0 {
		t.Errorf("told %q", chat.got)
	}
}

// press is the press of a button, signed with key.
func press(b *bridge, key, user, link, reply string) int {
	payload, _ := json.Marshal(map[string]any{
		"type": "block_actions", "user": map[string]string{"id": user}, "response_url": reply, "actions": []map[string]string{{"value": link}},
	})
	body := url.Values{"payload": {string(payload)}}.Encode()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	r := httptest.NewRequest(http.MethodPost, "/slack", strings.NewReader(body))
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	w := httptest.NewRecorder()
	b.handler().ServeHTTP(w, r)
	return w.Code
}

func TestAButtonOfSlackAnswers(t *testing.T) {
	b, chat, router := start(t)
	link, reply := router.URL+"/answer#q1.0.x", chat.URL+"/reply"
	for _, c := range []struct{ name, key, user, link, told string }{
		{"a person", b.slackKey, "U1", link, "Answered by ann."},
		{"somebody else", b.slackKey, "U9", link, "You may not answer here"},
		{"another router", b.slackKey, "U1", "https://evil.example/answer#q1.0.x", "another router"},
		{"a used link", b.slackKey, "U2", router.URL + "/answer#used", "it has its decision already"},
		{"another key", "guessed", "U1", link, ""},
	} {
		chat.got, router.got = nil, nil
		code := press(b, c.key, c.user, c.link, reply)
		if c.told == "" {
			if code != http.StatusUnauthorized || len(router.got)+len(chat.got) > 0 {
				t.Errorf("%s: %d, answered %q", c.name, code, router.got)
			}
			continue
		}
		if code != http.StatusOK || len(chat.got) != 1 || !strings.Contains(chat.got[0], c.told) {
			t.Errorf("%s: %d, told %q", c.name, code, chat.got)
		}
		if answered := len(router.got) == 1; answered != (strings.Contains(c.link, router.URL) && c.user != "U9") {
			t.Errorf("%s: the router got %q", c.name, router.got)
		} else if c.name == "a person" && router.got[0] != `/v1/link Bearer q1.0.x {"by":"slack ann"}` {
			t.Errorf("the router got %q", router.got)
		}
	}
	chat.got = nil
	press(b, b.slackKey, "U1", link, "http://127.0.0.1:1/steal")
	if len(chat.got) > 0 {
		t.Errorf("told %q", chat.got)
	}
}
