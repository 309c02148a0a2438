package agent_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// answer is what a scripted router does with one request.
type answer func(m *nats.Msg)

// scripted is a router of prepared answers: one for each request, the last one
// for all that follow.
type scripted struct {
	nc   *nats.Conn
	stop func() // takes nothing more

	mu       sync.Mutex // guards requests
	requests []*nats.Msg
}

// script starts a scripted router on a subject.
func script(t *testing.T, nc *nats.Conn, subject string, answers ...answer) *scripted {
	t.Helper()
	r := &scripted{nc: nc}
	sub, err := nc.QueueSubscribe(subject, "hooks-router", func(m *nats.Msg) {
		r.mu.Lock()
		n := len(r.requests)
		r.requests = append(r.requests, m)
		r.mu.Unlock()
		answers[min(n, len(answers)-1)](m)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	r.stop = func() { _ = sub.Unsubscribe(); _ = nc.Flush() }
	t.Cleanup(r.stop)
	return r
}

// taken are the requests until now.
func (r *scripted) taken() []*nats.Msg {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// say answers with a body and, in pairs, headers.
func say(body string, headers ...string) answer {
	return func(m *nats.Msg) {
		header := nats.Header{}
		if id := m.Header.Get("ce-id"); id != "" {
			header["Hook-Event-Id"] = []string{id}
		}
		for pair := range slices.Chunk(headers, 2) {
			header[pair[0]] = []string{pair[1]}
		}
		natstest.Respond(m, header, []byte(body))
	}
}

// refuse answers with a refusal.
func refuse(code int, text string) answer {
	return say("", "Nats-Service-Error-Code", fmt.Sprint(code), "Nats-Service-Error", text)
}

// silence answers nothing.
func silence(*nats.Msg) {}

// wire makes the connections of a client, and can cut the last one.
type wire struct {
	server *embedded.Server

	mu   sync.Mutex // guards conn
	conn net.Conn
}

// InProcessConn connects, for [nats.InProcessServer].
func (w *wire) InProcessConn() (net.Conn, error) {
	conn, err := w.server.InProcessConn()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = conn
	return conn, err
}

// cut is an answer: the connection breaks.
func (w *wire) cut(*nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.conn.Close()
}

// header is a header of a request, its name in any case.
func header(m *nats.Msg, name string) string {
	for k, v := range m.Header {
		if strings.EqualFold(k, name) {
			return strings.Join(v, "|")
		}
	}
	return ""
}
