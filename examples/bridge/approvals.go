package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const maxBody = 1 << 20

// message is what the router sends.
type message struct {
	Type     string `json:"type"`
	Approval struct {
		ID     string `json:"id"`
		Agent  string `json:"agent"` // proven; empty for none
		Hook   string `json:"hook"`
		Prompt string `json:"prompt"`
		Links  []link `json:"links"`
	} `json:"approval"`
}

// who names the agent that waits, for people.
func (m message) who() string { return cmp.Or(m.Approval.Agent, "An unauthenticated agent") }

type link struct {
	Option string `json:"option"`
	URL    string `json:"url"`
}

// approvals takes a webhook of the router.
func (b *bridge) approvals(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var m message
	switch {
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
	case !b.fromRouter(r.Header, body):
		http.Error(w, "the signature is not the router's", http.StatusUnauthorized)
	case json.Unmarshal(body, &m) != nil:
		http.Error(w, "the body is not a message of the router", http.StatusBadRequest)
	case m.Type != "approval:required":
	default:
		if err := b.tell(r.Context(), m); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway) // the router tries again
		}
	}
}

// fromRouter checks the signature of Standard Webhooks.
func (b *bridge) fromRouter(h http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(b.secret, "whsec_"))
	if err != nil || len(key) == 0 || !b.fresh(h.Get("webhook-timestamp")) {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", h.Get("webhook-id"), h.Get("webhook-timestamp"), body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for given := range strings.FieldsSeq(h.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(want)) {
			return true
		}
	}
	return false
}

// fresh says whether a Unix time is within five minutes of now.
func (b *bridge) fresh(seconds string) bool {
	unix, err := strconv.ParseInt(seconds, 10, 64)
	return err == nil && b.now().Sub(time.Unix(unix, 0)).Abs() <= 5*time.Minute
}

// tell tells the rooms.
func (b *bridge) tell(ctx context.Context, m message) error {
	if b.ntfy != "" {
		if err := b.post(ctx, ntfyServer(b.ntfy), ntfyMessage(b.ntfy, m)); err != nil {
			return fmt.Errorf("ntfy: %w", err)
		}
	}
	if b.slack != "" {
		if err := b.post(ctx, b.slack, slackMessage(m)); err != nil {
			return fmt.Errorf("slack: %w", err)
		}
	}
	return nil
}

// post sends JSON. Its error does not show the URL, which may be a secret.
func (b *bridge) post(ctx context.Context, url string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return b.send(ctx, url, text, "")
}

func (b *bridge) send(ctx context.Context, url string, body []byte, token string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the URL can't be read")
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return fmt.Errorf("no answer")
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		var refusal struct{ Error string }
		_ = json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(&refusal)
		return fmt.Errorf("status %d %s", resp.StatusCode, refusal.Error)
	}
	return nil
}
