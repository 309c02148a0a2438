package nats

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// ofSender serves a request about a session of its sender.
func (s *Server) ofSender(do func(ctx context.Context, sender string, header wire.Header, body []byte) error) handler {
	return func(ctx context.Context, req *service.Request) error {
		sender, err := s.sender(req)
		if err != nil {
			return err
		}
		if err := do(ctx, sender, req.Header, req.Data); err != nil {
			return err
		}
		return replyJSON(req, struct{}{})
	}
}

// closeSession ends a session of another agent, for an operator.
func (s *Server) closeSession(ctx context.Context, req *service.Request) error {
	var body agentapi.SessionRequest
	if err := readBody(req, &body); err != nil {
		return err
	}
	if err := body.Check(); err != nil {
		return err
	}
	state, err := s.owned(ctx, body.Agent, body.Session)
	if err != nil {
		return err
	}
	if err := s.dispatch.EndSession(ctx, s.changer(req), state.Sender, body.Session); err != nil {
		return err
	}
	return replyJSON(req, struct {
		Agent string `json:"agent,omitempty"`
	}{state.Sender})
}

// showSession answers with what is known of a session.
func (s *Server) showSession(ctx context.Context, req *service.Request) error {
	var body agentapi.SessionRequest
	if err := readBody(req, &body); err != nil {
		return err
	}
	if body.Grants && body.Session == "" {
		return s.showGrants(ctx, req, body.Agent)
	}
	if err := body.Check(); err != nil {
		return err
	}
	state, err := s.owned(ctx, body.Agent, body.Session)
	if err != nil {
		return err
	}
	name := labels.Name(state.Sender, body.Session)
	seen, err := s.opts.Registry.Labels(name)
	if err != nil {
		return err
	}
	return req.Reply(nil, appendSession(nil, state, s.opts.Limits.Lowered(state.Limits), seen, s.opts.Registry.Session(name)))
}

// revoke revokes "Allow always" grants of a session, or one grant beyond its session.
func (s *Server) revoke(ctx context.Context, req *service.Request) error {
	var body agentapi.SessionRequest
	err := readBody(req, &body)
	if err != nil {
		return err
	}
	var reply struct {
		Revoked int `json:"revoked"`
	}
	if body.Approval != "" && body.Session == "" {
		reply.Revoked, err = s.dispatch.RevokeGrant(ctx, body.Approval)
	} else if err = body.Check(); err == nil {
		reply.Revoked, err = s.dispatch.Revoke(ctx, body.Agent, body.Session, body.Hook, body.Prompt)
	}
	if err != nil {
		return err
	}
	return replyJSON(req, reply)
}

func appendSession(buf []byte, state session.State, limits verdict.Limits, seen []string, above labels.Record) []byte {
	w := events.NewObjectWriter(buf)
	w.String("session_id", state.Session)
	w.Text("agent", state.Sender)
	w.Int("turn", int64(state.Turn))
	w.Int("injected_tokens", int64(state.Used))
	w.Int("budget", int64(limits.Budget))
	w.Int("size_limit", int64(limits.Size))
	w.Objects("injections", len(state.Injections), func(i int, w *events.ObjectWriter) {
		one := state.Injections[i]
		w.String("event", one.Event)
		w.String("hook", one.Hook)
		w.Int("bytes", int64(one.Bytes))
		w.Int("tokens", int64(one.Tokens))
		w.String("time", one.Time)
	})
	w.Objects("grants", len(state.Grants), func(i int, w *events.ObjectWriter) {
		writeGrant(w, state.Grants[i])
	})
	if len(seen) > 0 {
		w.Texts("labels", seen)
	}
	w.Text("root", above.Root)
	w.Text("parent", above.Parent)
	if above.Depth > 0 {
		w.Int("depth", int64(above.Depth))
	}
	if state.Ended != nil {
		w.String("ended", approval.At(*state.Ended).String())
	}
	return w.End()
}
