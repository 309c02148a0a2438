package mcpproxy

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"mime"
	"net/http"
	"strings"
)

var errNoStream = errors.New("the server has no such stream")

// get opens a stream, after the event with id after if it is not empty.
func (r *remote) get(ctx context.Context, after string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.proxy.options.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.setHeader(req, message{})
	req.Header.Set("Accept", "text/event-stream")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusOK && kind == "text/event-stream":
		return resp, nil
	case resp.StatusCode/100 == 5:
		err = errors.New(resp.Status)
	default:
		err = errNoStream
	}
	_ = resp.Body.Close()
	return nil, err
}

// post sends a message.
func (r *remote) post(ctx context.Context, m message) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.proxy.options.URL, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	r.setHeader(req, m)
	return r.http.Do(req)
}

// setHeader sets the headers of the protocol. It takes them from the message, so that both agree.
func (r *remote) setHeader(req *http.Request, m message) {
	maps.Copy(req.Header, r.proxy.options.Header)
	params, _ := m.params()
	meta, _ := metaOf(params)
	revision, named := meta.GetString(version)
	r.mu.Lock()
	if named {
		r.revision = revision
	} else {
		revision = r.revision
	}
	if r.session != "" && m.method != "initialize" {
		req.Header.Set("Mcp-Session-Id", r.session)
	}
	r.mu.Unlock()
	if revision != "" && m.method != "initialize" {
		req.Header.Set("Mcp-Protocol-Version", plain(revision))
	}
	if m.method == "" || revision < stateless {
		return
	}
	req.Header.Set("Mcp-Method", m.method)
	member := "name"
	if strings.HasPrefix(m.method, "resources/") {
		member = "uri"
	}
	if name, ok := params.GetString(member); ok {
		req.Header.Set("Mcp-Name", plain(name))
	}
}

// plain returns a text in a form that is valid in a header.
func plain(text string) string {
	odd := strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
	if odd || text != strings.TrimSpace(text) || strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?=") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
	}
	return text
}
