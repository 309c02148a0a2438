package docs_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

const (
	hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	oldSecret  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
)

// verify reports whether a webhook is from who knows the secret, and fresh.
func verify(secret string, header http.Header, body []byte, now time.Time) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for got := range strings.FieldsSeq(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(got), []byte(want)) {
			return true
		}
	}
	return false
}

// webhookSent is a webhook as a receiver gets it.
func webhookSent(t *testing.T) (header http.Header, body []byte) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer receiver.Close() // waits for the handler
	s, err := webhook.New(webhook.Options{URLs: []string{receiver.URL}, Secret: oldSecret + " " + hookSecret})
	if err != nil {
		t.Fatal(err)
	}
	s.Notify(t.Context(), approval.Notice{Request: approval.Request{ID: "q1", Prompt: "Größer?"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what waits is sent
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return header, body
}

func TestTheSignatureCheckOfTheDocument(t *testing.T) {
	header, body := webhookSent(t)
	changed := append(bytes.Clone(body), ' ')
	otherID := header.Clone()
	otherID.Set("webhook-id", "x")
	now := time.Now()
	for name, c := range map[string]struct {
		secret string
		header http.Header
		body   []byte
		at     time.Time
		want   bool
	}{
		"as sent":              {hookSecret, header, body, now, true},
		"with the old secret":  {oldSecret, header, body, now, true},
		"with another secret":  {"whsec_" + strings.Repeat("QUJD", 8), header, body, now, false},
		"without a secret":     {"", header, body, now, false},
		"with another body":    {hookSecret, header, changed, now, false},
		"with another id":      {hookSecret, otherID, body, now, false},
		"later":                {hookSecret, header, body, now.Add(10 * time.Minute), false},
		"before":               {hookSecret, header, body, now.Add(-10 * time.Minute), false},
		"without any header":   {hookSecret, http.Header{}, body, now, false},
		"a little later":       {hookSecret, header, body, now.Add(4 * time.Minute), true},
		"from a clock in time": {hookSecret, header, body, now.Add(-4 * time.Minute), true},
	} {
		if got := verify(c.secret, c.header, c.body, c.at); got != c.want {
			t.Errorf("%s: verified: %v; want %v", name, got, c.want)
		}
	}
}

func TestTheSignatureCheckInPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	header, body := webhookSent(t)
	headers := map[string]string{}
	for name := range header {
		headers[strings.ToLower(name)] = header.Get(name)
	}
	input, err := json.Marshal(map[string]any{"headers": headers, "body": string(body)})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snippets(t, "python") {
		if s.info != "" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", s.text+`
import json, sys
r = json.load(sys.stdin)
h, body = r["headers"], r["body"].encode()
old = dict(h, **{"webhook-timestamp": "1"})
print(verify(sys.argv[1], h, body), verify(sys.argv[1], h, body + b" "), verify(sys.argv[1], old, body))`, hookSecret)
		cmd.Stdin = bytes.NewReader(input)
		out, err := cmd.CombinedOutput()
		if got, want := string(out), "True False False\n"; err != nil || got != want {
			t.Errorf("%s: %v: as sent, changed and old are verified: %s; want %s", s.at(), err, got, want)
		}
	}
}
