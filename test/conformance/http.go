package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"
)

// overHTTP is the path of a request of an agent; ok is false where the request is that of
// somebody else, who only speaks NATS.
func (t Target) overHTTP(subject string) (path string, ok bool) {
	verb, name, _ := strings.Cut(strings.TrimPrefix(subject, t.Prefix+"."), ".")
	switch verb {
	case "emit", "execute", "collect":
		name = strings.ReplaceAll(name, ".", ":")
	case "contributions", "session":
	default:
		return "", false
	}
	return "/v1/" + verb + "/" + url.PathEscape(name), t.HTTP != ""
}

// post sends a request of an agent over HTTP.
func (t Target) post(ctx context.Context, path string, header nats.Header, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.HTTP+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header.Set(name, values[0])
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+t.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("post %s: refused: %s %s", path, resp.Status, answer)
	}
	return bytes.TrimSpace(answer), err
}
