package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxButtons is how many buttons Slack takes in a row.
const maxButtons = 25

// denies reports whether an option surely denies.
func denies(option string) bool { return !strings.Contains(strings.ToLower(option), "allow") }

// slackMessage is an approval request in Slack's Block Kit. What hooks wrote is plain text:
// no markup, no links, no mentions. A button that denies answers at once; the others open the
// page that shows all of what is asked, since Slack may cut it.
func slackMessage(m message) map[string]any {
	text := func(s string) map[string]any { return map[string]any{"type": "plain_text", "text": cut(s, 2900)} }
	var buttons []map[string]any
	for i, l := range m.Approval.Links {
		button := map[string]any{
			"type": "button", "action_id": fmt.Sprintf("answer-%d", i), "text": map[string]any{"type": "plain_text", "text": cut(l.Option, 70)},
		}
		if denies(l.Option) {
			button["value"] = l.URL
		} else {
			button["url"] = l.URL
		}
		buttons = append(buttons, button)
	}
	asks := m.who() + " waits. " + m.Approval.Hook + " asks: " + m.Approval.Prompt
	blocks := []map[string]any{{"type": "section", "text": text(asks)}}
	for row := range slices.Chunk(buttons, maxButtons) {
		blocks = append(blocks, map[string]any{"type": "actions", "elements": row})
	}
	return map[string]any{"text": "An agent waits for a person", "blocks": blocks}
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

// slackAction takes the press of a button.
func (b *bridge) slackAction(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || !b.fromSlack(r.Header, body) {
		http.Error(w, "the signature is not Slack's", http.StatusUnauthorized)
		return
	}
	var press struct {
		User    struct{ ID string }
		Actions []struct{ Value string }
		Reply   string `json:"response_url"`
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || json.Unmarshal([]byte(form.Get("payload")), &press) != nil || len(press.Actions) != 1 {
		http.Error(w, "this is not a button press", http.StatusBadRequest)
		return
	}
	if press.Actions[0].Value == "" {
		return // the button opened the page
	}
	text := b.answer(r, press.User.ID, press.Actions[0].Value)
	if strings.HasPrefix(press.Reply, b.slackAnswersBelow) {
		_ = b.post(r.Context(), press.Reply, map[string]any{"text": text, "replace_original": strings.HasPrefix(text, "Answered")})
	}
}

// answer answers through a link in the name of who pressed the button, and says what came
// of it.
func (b *bridge) answer(r *http.Request, user, link string) string {
	name, known := b.slackUsers[user]
	if !known {
		return "You may not answer here: the operator of the bridge adds people with SLACK_USERS."
	}
	token, ours := strings.CutPrefix(link, b.console+"/answer#")
	if !ours {
		return "The button leads to another router."
	}
	by, _ := json.Marshal(map[string]string{"by": "slack " + name})
	if err := b.send(r.Context(), b.console+"/v1/link", by, token); err != nil {
		return "Not answered: " + err.Error()
	}
	return "Answered by " + name + "."
}

// fromSlack checks Slack's signature of the body.
func (b *bridge) fromSlack(h http.Header, body []byte) bool {
	if b.slackKey == "" || !b.fresh(h.Get("X-Slack-Request-Timestamp")) {
		return false
	}
	mac := hmac.New(sha256.New, []byte(b.slackKey))
	fmt.Fprintf(mac, "v0:%s:%s", h.Get("X-Slack-Request-Timestamp"), body)
	return hmac.Equal([]byte(h.Get("X-Slack-Signature")), []byte("v0="+hex.EncodeToString(mac.Sum(nil))))
}
