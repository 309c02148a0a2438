package nats

import (
	"context"
	"strconv"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// pending lists the open approval requests, as many as fit into a message.
func (s *Server) pending(ctx context.Context, req *service.Request) error {
	var filter approval.Filter
	if err := readBody(req, &filter); err != nil {
		return err
	}
	filter.Room = int(s.conn.MaxPayload()) - agentapi.HeaderRoom
	list, total, err := s.opts.Approvals.Pending(ctx, filter)
	if err != nil {
		return err
	}
	body := []byte{'['}
	for i, q := range list {
		if i > 0 {
			body = append(body, ',')
		}
		body = q.Append(body)
	}
	return req.Reply(wire.Header{wire.HeaderTotal: {strconv.Itoa(total)}}, append(body, ']'))
}

// showApproval answers with an approval request in full.
func (s *Server) showApproval(ctx context.Context, req *service.Request) error {
	record, err := s.opts.Approvals.Get(ctx, s.conn.Tail("approval", req.Subject))
	if err != nil {
		return err
	}
	if sender, err := s.sender(req); err == nil {
		record.Scopes = record.ScopesFor(sender)
	}
	return req.Reply(nil, record.Append(nil))
}

// reveal answers with an approval request whose secrets are not masked, after recording who sees
// them. A sender that can't be recorded sees nothing.
func (s *Server) reveal(ctx context.Context, req *service.Request) error {
	by, err := s.sender(req)
	if err != nil {
		return err
	}
	if by == "" {
		return wire.Errorf(wire.Forbidden, "secrets are shown only to proven identities, but this router requires no credentials")
	}
	record, err := s.dispatch.Reveal(ctx, s.conn.Tail("reveal", req.Subject), by)
	if err != nil {
		return err
	}
	return req.Reply(nil, record.Append(nil))
}

// approve takes a person's answer.
func (s *Server) approve(ctx context.Context, req *service.Request) error {
	var answer approval.Answer
	if err := readBody(req, &answer); err != nil {
		return err
	}
	ctx = telemetry.Remote(ctx, wire.Get(req.Header, wire.HeaderTraceparent), wire.Get(req.Header, wire.HeaderTracestate))
	sender, err := s.sender(req)
	if err != nil {
		return err
	}
	id := s.conn.Tail("approve", req.Subject)
	decision, err := s.opts.Approvals.Answer(ctx, id, answer, sender)
	if err != nil {
		return err
	}
	return replyJSON(req, agentapi.Answered(ctx, s.opts.Approvals, id, decision))
}
