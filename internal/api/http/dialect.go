package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// dialects is the path below which agents ask in their own format. Agents proceed if the status is
// not 2xx, so every answer here has status 200, and blocks if nothing was decided.
const dialects = "/v1/agents/"

// maxUnauthorized bounds the concurrent messages of agents without a valid token. They are read so
// that they can be blocked in the format of their event.
const maxUnauthorized = 16

// maxAgentTime bounds how long an agent may say that it waits.
const maxAgentTime = time.Hour

// dialect answers POST /v1/agents/{dialect}.
func (s *Server) dialect(w http.ResponseWriter, r *http.Request) {
	c := &call{Server: s, w: w, r: r}
	h, err := hookOf(r)
	if err == nil {
		err = c.authorize()
	}
	if err != nil {
		s.agents.Refused("agents", wire.FromError(err).Code)
		c.block(h, c.readUnauthorized(), err)
		return
	}
	leave, err := c.take()
	if err != nil {
		s.agents.Refused("agents", wire.FromError(err).Code)
		c.block(h, nil, err)
		return
	}
	defer leave()
	var document []byte
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("handler panicked", "path", r.URL.Path, "panic", p)
			c.block(h, document, errors.New("the router failed: a defect, see its log"))
		}
	}()
	if document, err = c.read(c.agents.MaxBody()); err != nil {
		s.agents.Refused("agents", wire.FromError(err).Code)
		c.block(h, nil, err)
		return
	}
	h.Router = asker{c, events.NewID()}
	c.say(h, h.Answer(r.Context(), document))
}

// hookOf returns the hook for the agent that a request names. If there is none, it returns an
// error and the hook blocks in the format of Claude Code.
func hookOf(r *http.Request) (*agenthook.Hook, error) {
	name := strings.TrimPrefix(r.URL.Path, dialects)
	h := &agenthook.Hook{Native: r.URL.Query().Get("event"), Notes: io.Discard}
	known := false
	if h.Dialect, known = agenthook.Find(name); !known {
		h.Dialect, _ = agenthook.Find("claude-code")
		return h, wire.Errorf(wire.NotFound, "there is no agent %q here: see docs/http-api.md", name[:min(len(name), 80)])
	}
	var err error
	h.Options.Managed = r.URL.Query().Get("scope") == "managed"
	h.Options.Timeout, err = wire.Timeout(r.Header.Get(wire.HeaderTimeout), 0, maxAgentTime)
	return h, err
}

// readUnauthorized reads the message of an agent without a valid token; nil if too many are being
// read.
func (c *call) readUnauthorized() []byte {
	select {
	case c.unauthorized <- struct{}{}:
		defer func() { <-c.unauthorized }()
	default:
		return nil
	}
	document, _ := c.read(c.agents.MaxBody()) // without a document, the answer blocks any event
	return document
}

// block answers that the agent must block, since there is no verdict.
func (c *call) block(h *agenthook.Hook, document []byte, cause error) {
	if e, ok := errors.AsType[*wire.Error](cause); ok {
		cause = errors.New(e.Text)
	}
	c.say(h, h.Refuse(document, cause))
}

// say answers in the agent's own format.
func (c *call) say(h *agenthook.Hook, out agenthook.Output) {
	_ = c.write(http.StatusOK, h.Body(out)) // fails only if the agent is gone
}

// asker passes an agent's events to this router.
type asker struct {
	*call
	eventID string
}

// Emit runs the hooks of an event.
func (a asker) Emit(ctx context.Context, e agenthook.Sent) (r chain.Result, err error) {
	body, err := a.ask(ctx, "emit", e)
	if err == nil {
		r, err = chain.ParseResult(body)
	}
	return r, err
}

// Execute also acts on what the hooks decide, and waits while a person is asked.
func (a asker) Execute(ctx context.Context, e agenthook.Sent) (v verdict.Verdict, err error) {
	body, err := a.ask(ctx, "execute", e)
	for err == nil {
		if v, err = verdict.Parse(body); err != nil || v.Action != verdict.Pending || ctx.Err() != nil {
			return v, err
		}
		var next []byte
		if next, err = a.decided(ctx, v.Approval.ID, min(timeLeft(ctx), dispatch.MaxWait), func() error { return nil }); next != nil {
			body = next
		}
	}
	return verdict.Verdict{}, err
}

// ask passes on an event, to be decided in the remaining time, without waiting for a person.
func (a asker) ask(ctx context.Context, verb string, e agenthook.Sent) ([]byte, error) {
	header := wire.Header{}
	events.Event{ID: a.eventID, Source: e.Source, Name: e.Name}.WithAttr(events.AttrParent, e.Parent).WithAttr(events.AttrRoot, e.Root).SetHeader(header)
	in, err := a.agents.ReadEvent(e.Name, a.sender, header, e.Data)
	if err != nil {
		return nil, err
	}
	in.Timeout, in.Wait = timeLeft(ctx), 0
	in.Traceparent, in.Tracestate = a.r.Header.Get(wire.HeaderTraceparent), a.r.Header.Get(wire.HeaderTracestate)
	o, err := a.decide(verb, func(ctx context.Context) (*dispatch.Answer, error) { return a.agents.Decide(ctx, verb, in) }) //nolint:contextcheck // a chain does not end with its client
	if err != nil {
		a.agents.Refused("agents", wire.FromError(err).Code)
		return nil, err
	}
	if o.later != nil {
		o.body = <-o.later // at once
	}
	o.sent(nil)
	return o.body, nil
}

// timeLeft returns the time until ctx ends.
func timeLeft(ctx context.Context) time.Duration {
	end, _ := ctx.Deadline() // every agent has one
	return max(time.Until(end), time.Millisecond)
}
