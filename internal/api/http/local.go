package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Signer signs with the key by which hook-agents recognize the router. A key pair of NATS
// implements it.
type Signer interface {
	Sign(text []byte) ([]byte, error)
}

// Local returns a server for the hook-agents of the router's own user. Only they may reach it, and
// they need no token. label returns their identity, such as "agent/agent"; ok is false if it has
// ended. key signs each answer together with its request, which proves that this router gave it.
//
// It answers only with verdicts. If a person must decide or the request fails, the status is not
// 200, and hook-agent asks over NATS.
func (s *Server) Local(label func() (_ string, ok bool), key Signer) *http.Server {
	served := s.HTTP()
	served.Handler = s.bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("handler panicked", "path", r.URL.Path, "panic", p)
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		c := &localCall{call: &call{Server: s, w: w, r: r, who: label}, key: key}
		if c.valid() != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if err := c.answer(r.Context()); err != nil {
			w.WriteHeader(max(wire.FromError(err).Code, http.StatusBadRequest))
		}
	}))
	return served
}

// localCall is a request of a hook-agent.
type localCall struct {
	*call
	key      Signer
	exchange supervisor.Exchange
}

// answer answers with what hook-agent writes to standard error and output, and its exit code.
func (c *localCall) answer(ctx context.Context) error {
	h, err := hookOf(c.r)
	if err != nil {
		return err
	}
	leave, err := c.take()
	if err != nil {
		return err
	}
	defer leave()
	document, err := c.read(c.agents.MaxBody())
	if err != nil {
		return err
	}
	c.exchange = supervisor.Exchange{
		Target: c.r.RequestURI, Challenge: c.r.Header.Get(supervisor.HeaderChallenge), Timeout: c.r.Header.Get(supervisor.HeaderTimeout),
		Sessions: c.r.Header.Get(supervisor.HeaderSessions), Document: document,
	}
	var notes bytes.Buffer
	id := events.NewID()
	h.Notes, h.Options.Getenv, h.Router = &notes, sessions(c.exchange.Sessions), atOnce{asker{c.call, id}}
	out, err := h.Decide(ctx, document, func(most time.Duration) { c.accept(id, most) })
	if err != nil {
		return err
	}
	if out.Stderr != "" {
		fmt.Fprintln(&notes, out.Stderr)
	}
	header := c.w.Header()
	header.Set(supervisor.HeaderCode, strconv.Itoa(out.Code))
	header.Set(supervisor.HeaderNotes, strconv.Itoa(notes.Len()))
	header.Set("Content-Length", strconv.Itoa(notes.Len()+len(out.Stdout)))
	body := append(notes.Bytes(), out.Stdout...)
	if err := c.sign(http.StatusOK, body); err != nil {
		return err
	}
	setWriteDeadline(c.w)
	_, _ = c.w.Write(body) // fails only if the program is gone
	return nil
}

// sign adds the signature of the answer in its current state.
func (c *localCall) sign(status int, body []byte) error {
	header := c.w.Header()
	signature, err := c.key.Sign(c.exchange.Text(strconv.Itoa(status), header.Get, body))
	if err != nil {
		return wire.Errorf(wire.Internal, "sign the answer: %v", err)
	}
	header.Set(supervisor.HeaderSignature, base64.StdEncoding.EncodeToString(signature))
	return nil
}

// accept tells hook-agent that an answer will follow, after most at the latest.
func (c *localCall) accept(eventID string, most time.Duration) {
	c.w.Header().Set(supervisor.HeaderEventID, eventID)
	c.w.Header().Set(supervisor.HeaderTimeout, strconv.FormatInt(most.Milliseconds(), 10))
	if c.sign(http.StatusProcessing, nil) == nil {
		c.w.WriteHeader(http.StatusProcessing)
	}
}

// sessions returns a lookup of the sessions that a hook-agent found in its environment.
func sessions(header string) func(string) string {
	pairs := strings.Split(header, ",")
	return func(name string) string {
		i := slices.IndexFunc(pairs, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
		if i < 0 {
			return ""
		}
		return strings.TrimPrefix(pairs[i], name+"=")
	}
}

// atOnce is an asker that does not wait for a person.
type atOnce struct{ asker }

// Execute returns an error if there is no verdict yet.
func (a atOnce) Execute(ctx context.Context, e agenthook.Sent) (v verdict.Verdict, err error) {
	body, err := a.ask(ctx, "execute", e)
	if err != nil {
		return v, err
	}
	if v, err = verdict.Parse(body); err == nil && v.Action == verdict.Pending {
		err = wire.Errorf(http.StatusConflict, "a person is asked")
	}
	return v, err
}
