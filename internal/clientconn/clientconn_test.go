package clientconn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// coded is the error that stands for a *hookrouter.Error.
type coded struct{ code int }

func (e *coded) Error() string { return fmt.Sprint("code ", e.code) }

// connect returns a connection of a client to a server, and one of a router.
func connect(t *testing.T, s *embedded.Server, patience time.Duration) (*clientconn.Conn, *nats.Conn) {
	t.Helper()
	transport := natstest.Connect(t, natsx.Options{InProcess: s, NATS: []nats.Option{nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0)}})
	return &clientconn.Conn{
		Transport: transport, Patience: patience,
		NewError: func(code int, _ string) error { return &coded{code} },
	}, natstest.Conn(t, s)
}

// answer answers the requests on a subject, counted from 1.
func answer(t *testing.T, router *nats.Conn, subject string, handle func(n int, m *nats.Msg)) {
	t.Helper()
	n := 0
	_, err := router.Subscribe(subject, func(m *nats.Msg) { n++; handle(n, m) })
	if err == nil {
		err = router.Flush()
	}
	if err != nil {
		t.Error(err)
	}
}

// TestRetries shows which error replies lead to another try. The router answers the first
// two tries with a code, and then as it should.
func TestRetries(t *testing.T) {
	t.Parallel()
	const all = 3
	for code, tries := range map[int]map[clientconn.Retry]int{
		wire.Unavailable: {clientconn.IfUnserved: all, clientconn.Idempotent: all, clientconn.Never: 1},
		wire.Overloaded:  {clientconn.IfUnserved: 1, clientconn.Idempotent: all, clientconn.Never: 1},
		wire.Malformed:   {clientconn.IfUnserved: 1, clientconn.Idempotent: 1, clientconn.Never: 1},
		wire.Internal:    {clientconn.IfUnserved: 1, clientconn.Idempotent: 1, clientconn.Never: 1},
	} {
		for retry, want := range tries {
			t.Run(fmt.Sprintf("code %d, retry %d", code, retry), func(t *testing.T) {
				t.Parallel()
				conn, router := connect(t, natstest.Server(t), testkit.Patience)
				answer(t, router, "hooks.x", func(n int, m *nats.Msg) {
					if n < all {
						natstest.Respond(m, wire.Errorf(code, "no").Header(), nil)
						return
					}
					natstest.Respond(m, nil, []byte(m.Header.Get("try")))
				})
				began, header := 0, wire.Header{}
				msg, err := conn.Request(t.Context(), clientconn.Request{
					Subject: "hooks.x", Header: header, Retry: retry,
					Before: func() { began++; header["try"] = []string{fmt.Sprint(began)} },
				})
				if began != want {
					t.Errorf("%d tries; want %d", began, want)
				}
				if want == all {
					if err != nil || string(msg.Data) != fmt.Sprint(all) {
						t.Errorf("reply %v, error %v", msg, err)
					}
					return
				}
				if e, ok := errors.AsType[*coded](err); !ok || e.code != code {
					t.Errorf("error %v; want that of code %d", err, code)
				}
			})
		}
	}
}

func TestARouterThatComesLaterAnswers(t *testing.T) {
	t.Parallel()
	conn, router := connect(t, natstest.Server(t), testkit.Patience)
	tries := 0
	msg, err := conn.Request(t.Context(), clientconn.Request{Subject: "hooks.x", Before: func() {
		if tries++; tries == 2 {
			answer(t, router, "hooks.x", func(_ int, m *nats.Msg) { natstest.Respond(m, nil, []byte("ok")) })
		}
	}})
	if err != nil || string(msg.Data) != "ok" || tries != 2 {
		t.Errorf("%d tries, error %v", tries, err)
	}
}

func TestWithoutARouterPatienceEnds(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		patience time.Duration
		retry    clientconn.Retry
		within   time.Duration // the time of the context
		once     bool
	}{
		"negative patience is one try":    {patience: -1, within: testkit.Patience, once: true},
		"never is one try":                {patience: time.Hour, retry: clientconn.Never, within: testkit.Patience, once: true},
		"patience ends the tries":         {patience: 120 * time.Millisecond, within: testkit.Patience},
		"idempotent has only the context": {patience: -1, retry: clientconn.Idempotent, within: time.Second},
		"the context may end before that": {patience: time.Hour, within: time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			conn, _ := connect(t, natstest.Server(t), c.patience)
			tries := 0
			_, err := conn.Request(testkit.Within(t, c.within), clientconn.Request{Subject: "hooks.x", Retry: c.retry, Before: func() { tries++ }})
			if !errors.Is(err, clientconn.ErrNoRouter) || !strings.Contains(err.Error(), "hooks.x") {
				t.Errorf("error %v", err)
			}
			if c.once != (tries == 1) {
				t.Errorf("%d tries", tries)
			}
		})
	}
}

// TestALostConnection shows that a request whose reply got lost is sent again only where
// that is harmless.
func TestALostConnection(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		retry clientconn.Retry
		want  error
	}{
		"it may have taken effect":  {clientconn.IfUnserved, clientconn.ErrConnectionLost},
		"idempotent requests go on": {clientconn.Idempotent, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t)
			conn, router := connect(t, s, testkit.Patience)
			answer(t, router, "hooks.x", func(n int, m *nats.Msg) {
				if n == 1 {
					id, err := conn.Transport.Conn().GetClientID()
					if err == nil {
						err = s.DisconnectClientByID(id)
					}
					if err != nil {
						t.Error(err)
					}
					return
				}
				natstest.Respond(m, nil, []byte("ok"))
			})
			if _, err := conn.Request(testkit.Within(t, testkit.Patience), clientconn.Request{Subject: "hooks.x", Retry: c.retry}); !errors.Is(err, c.want) {
				t.Errorf("error %v; want %v", err, c.want)
			}
		})
	}
}

func TestTheEndOfTheContextIsTheError(t *testing.T) {
	t.Parallel()
	conn, router := connect(t, natstest.Server(t), testkit.Patience)
	answer(t, router, "hooks.x", func(int, *nats.Msg) {})
	if _, err := conn.Request(testkit.Within(t, 30*time.Millisecond), clientconn.Request{Subject: "hooks.x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestRequestJSON(t *testing.T) {
	t.Parallel()
	conn, router := connect(t, natstest.Server(t), -1)
	answer(t, router, "hooks.echo", func(_ int, m *nats.Msg) { natstest.Respond(m, nil, m.Data) })
	type body struct{ A int }
	var got body
	request := clientconn.Request{Subject: "hooks.echo"}
	if _, err := conn.RequestJSON(t.Context(), request, body{7}, &got); err != nil || got.A != 7 {
		t.Errorf("%+v, error %v", got, err)
	}
	if msg, err := conn.RequestJSON(t.Context(), request, nil, nil); err != nil || len(msg.Data) != 0 {
		t.Errorf("without a body: %v %v", msg, err)
	}
	if _, err := conn.RequestJSON(t.Context(), request, []int{1}, &got); err == nil || !strings.Contains(err.Error(), "decode the reply") {
		t.Errorf("a reply of another type: %v", err)
	}
	if _, err := conn.RequestJSON(t.Context(), request, func() {}, nil); err == nil || !strings.Contains(err.Error(), "encode the request") {
		t.Errorf("a body that is no JSON: %v", err)
	}
}
