package mcpproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Timeouts of requests to a server over HTTP.
const (
	noticeWithin = 30 * time.Second // for the answer to a notification or a response
	goodbye      = 2 * time.Second  // for the end of the session
)

// stateless is the first revision without sessions and without streams that are opened with GET.
const stateless = "2026-07-28"

// remote is a server over streamable HTTP.
type remote struct {
	proxy *Proxy
	http  *http.Client
	ctx   context.Context //nolint:containedctx // the context of the proxy's run: requests continue after send returns

	mu       sync.Mutex
	closed   bool
	session  string                        // Mcp-Session-Id
	revision string                        // of the protocol; empty if not yet known
	posts    map[string]context.CancelFunc // by the key of the request
	listens  bool
	work     sync.WaitGroup // all work counted by begin
	requests sync.WaitGroup // the requests among them
}

func newRemote(ctx context.Context, p *Proxy) *remote {
	return &remote{
		proxy: p, ctx: ctx, posts: map[string]context.CancelFunc{},
		http: &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a redirect may lead to another server
		},
	}
}

// begin counts a unit of work. It returns false if the proxy is closing.
func (r *remote) begin(isRequest bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.work.Add(1)
	if isRequest {
		r.requests.Add(1)
	}
	return true
}

// send relays one message. A request runs in the background. A notification or a response is
// delivered before send returns, so that the server gets it before the client's next message.
func (r *remote) send(m message) {
	if m.kind == notification && m.method == cancelNow && r.isStateless() {
		return // closing the stream of the request cancels it
	}
	if !r.begin(m.kind == request) {
		return
	}
	if m.kind != request {
		defer r.work.Done()
		r.notify(m)
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.mu.Lock()
	r.posts[m.key] = cancel
	r.mu.Unlock()
	go func() {
		defer r.work.Done()
		defer r.requests.Done()
		defer r.abandoned(m.key)
		if err := r.request(ctx, m); err != nil && r.proxy.requests.isSent(m.key) {
			r.receive(m, failure(m.id, codeRefused, "The server could not be asked: "+err.Error()))
		}
	}()
}

// abandoned cancels the request, whose response is no longer needed.
func (r *remote) abandoned(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.posts[key]; cancel != nil {
		delete(r.posts, key)
		cancel()
	}
}

func (r *remote) isStateless() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revision >= stateless
}

// notify sends a message that expects no response.
func (r *remote) notify(m message) {
	ctx, cancel := context.WithTimeout(r.ctx, noticeWithin)
	defer cancel()
	resp, err := r.post(ctx, m)
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			err = errors.New("it answered " + resp.Status)
		}
	}
	if err != nil {
		r.proxy.note("the server did not take %s: %v", orResponse(m.method), err)
		return
	}
	if m.method == "notifications/initialized" && !r.isStateless() && r.begin(false) {
		go func() {
			defer r.work.Done()
			r.listen()
		}()
	}
}

func orResponse(method string) string {
	if method == "" {
		return "a response"
	}
	return method
}

// request sends a request and relays the response and other messages that the server sends with it.
func (r *remote) request(ctx context.Context, m message) error {
	resp, err := r.post(ctx, m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); m.method == "initialize" && len(id) <= 1024 {
		r.mu.Lock()
		r.session = id
		r.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 2 && kind == "text/event-stream":
		return r.follow(ctx, m, resp.Body)
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("it redirects to %s, which is not followed: give that address if you trust it", clip(resp.Header.Get("Location")))
	case kind == "application/json":
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
		if err != nil {
			return err
		}
		if len(body) <= maxMessage && (resp.StatusCode/100 == 2 || isResponse(body)) {
			r.receive(m, body)
		}
	}
	if r.proxy.requests.isSent(m.key) {
		return fmt.Errorf("it answered %s without a response (%s)", resp.Status, clip(kind))
	}
	return nil
}

// isResponse reports whether the body of an HTTP error is a JSON-RPC response.
func isResponse(body []byte) bool {
	m, err := parse(bytes.TrimSpace(body))
	return err == nil && m.kind == response && m.key != ""
}

// receive relays a complete body from the server.
func (r *remote) receive(m message, body []byte) {
	if bytes.ContainsAny(body, "\r\n") { // messages on standard output must be single lines
		if value := jsontext.Value(bytes.Clone(body)); value.Compact() == nil {
			body = value
		}
	}
	if m.method == "initialize" {
		r.learn(body)
	}
	r.proxy.fromServer(r.ctx, bytes.TrimSpace(body))
}

// learn stores the protocol revision from the response to initialize.
func (r *remote) learn(body []byte) {
	m, err := parse(bytes.TrimSpace(body))
	if err != nil || m.kind != response {
		return
	}
	raw, _ := m.members.Get("result")
	if result, err := events.ParseObject(raw); err == nil {
		revision, _ := result.GetString("protocolVersion")
		r.mu.Lock()
		r.revision = revision
		r.mu.Unlock()
	}
}

// close waits for open requests for up to patience, ends the session, and stops all other work.
func (r *remote) close(cancel func(), patience time.Duration) {
	r.mu.Lock()
	r.closed = true
	session := r.session
	r.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.requests.Wait()
	}()
	select {
	case <-answered:
	case <-time.After(patience):
	}
	if session != "" {
		ctx, done := context.WithTimeout(context.WithoutCancel(r.ctx), goodbye)
		defer done()
		if req, err := http.NewRequestWithContext(ctx, http.MethodDelete, r.proxy.options.URL, http.NoBody); err == nil {
			r.setHeader(req, message{})
			if resp, err := r.http.Do(req); err == nil { // otherwise the session expires
				_ = resp.Body.Close()
			}
		}
	}
	cancel()
	<-answered
	r.work.Wait()
	r.http.CloseIdleConnections()
}

// runRemote relays messages between the client and a server over HTTP until the client is gone, a
// signal arrives or ctx ends.
func (p *Proxy) runRemote(ctx context.Context, stdin io.Reader) int {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newRemote(running, p)
	p.server = r
	asking, giveUp := context.WithCancel(running)
	defer giveUp()
	code, patience := 0, afterInput
	select {
	case <-p.readClient(asking, stdin):
		late := time.AfterFunc(lastCalls, giveUp)
		p.calls.wait()
		late.Stop()
	case s := <-p.options.Signals:
		patience, code = 0, 128
		if number, ok := s.(syscall.Signal); ok {
			code += int(number)
		}
	case <-ctx.Done():
		patience = 0
	case <-p.client.ended:
		patience = 0
	}
	r.close(cancel, patience)
	late := time.AfterFunc(afterJudging, p.client.stop) // if the client does not read
	defer late.Stop()
	p.results.close()
	return code
}
