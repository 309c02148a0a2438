package router

import (
	"context"
	"errors"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxAnswer is the largest body of a request about approvals or sessions, in
// bytes.
const maxAnswer = 16 << 10

// read decodes the body of a small request strictly; empty means the zero value.
func read(req *natsx.Request, into any) error {
	if len(req.Data) == 0 {
		return nil
	}
	if len(req.Data) > maxAnswer {
		return wire.Errorf(wire.TooLarge, "the body has %d bytes: at most %d are allowed", len(req.Data), maxAnswer)
	}
	if _, err := events.ParseObject(req.Data); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	var options []jsonv2.Options
	if spoken(req) <= 1 {
		options = append(options, jsonv2.RejectUnknownMembers(true))
	}
	err := jsonv2.Unmarshal(req.Data, into, options...)
	where, _ := errors.AsType[*jsonv2.SemanticError](err)
	switch {
	case err == nil:
		return nil
	case where == nil:
		return wire.Errorf(wire.Malformed, "the body can't be read: %v", err)
	case errors.Is(err, jsonv2.ErrUnknownName):
		return wire.Errorf(wire.Malformed, "the body has the unknown field %q", where.JSONPointer.LastToken())
	default:
		return wire.Errorf(wire.Malformed, "the field %q of the body is of the wrong type", where.JSONPointer.LastToken())
	}
}

// who is the sender of a request as far as the connection proves, or "".
func (r *Router) who(req *natsx.Request) string {
	if !r.Accounts {
		return ""
	}
	return req.Sender()
}

// pending lists the open questions, the oldest first, as many as fit a message.
func (r *Router) pending(ctx context.Context, req *natsx.Request) error {
	var filter approval.Filter
	if err := read(req, &filter); err != nil {
		return err
	}
	list, total, err := r.desk.Pending(ctx, filter)
	if err != nil {
		return err
	}
	body := []byte{'['}
	room := int(r.bus.MaxPayload()) - headerRoom
	for i, q := range list {
		before := len(body)
		if i > 0 {
			body = append(body, ',')
		}
		if body = q.Append(body); len(body) > room {
			body = body[:before]
			break
		}
	}
	return req.Reply(wire.Header{wire.HeaderTotal: {strconv.Itoa(total)}}, append(body, ']'))
}

// question answers with all that is known of one.
func (r *Router) showQuestion(ctx context.Context, req *natsx.Request) error {
	record, err := r.desk.Get(ctx, r.bus.Tail("approval", req.Subject))
	if err != nil {
		return err
	}
	return req.Reply(nil, record.Append(nil))
}

// accepted is the reply to an answer that decided.
type accepted struct {
	Status string `json:"status"`
	Option string `json:"option"`
}

// approve takes an answer to a question.
func (r *Router) approve(ctx context.Context, req *natsx.Request) error {
	var answer approval.Answer
	if err := read(req, &answer); err != nil {
		return err
	}
	ctx = telemetry.Remote(ctx, wire.Get(req.Header, wire.HeaderTraceparent), wire.Get(req.Header, wire.HeaderTracestate))
	decision, err := r.desk.Answer(ctx, r.bus.Tail("approve", req.Subject), answer, r.who(req))
	if err != nil {
		return err
	}
	return replyJSON(req, accepted{"accepted", decision.Option})
}

// sessionRequest is the body of the requests about a session.
type sessionRequest struct {
	Session string `json:"session_id"`
	Hook    string `json:"hook"`
	Prompt  string `json:"prompt"`
}

// readSession reads the body of a request about a session.
func readSession(req *natsx.Request) (sessionRequest, error) {
	var body sessionRequest
	if err := read(req, &body); err != nil {
		return body, err
	}
	if body.Session == "" || len(body.Session) > events.MaxSessionLen {
		return body, wire.Errorf(wire.Malformed, `the body must name the session, {"session_id":"…"}, in at most %d bytes`, events.MaxSessionLen)
	}
	return body, nil
}

// turn begins a turn of a session.
func (r *Router) turn(ctx context.Context, req *natsx.Request) error {
	body, err := readSession(req)
	if err != nil {
		return err
	}
	if err := r.states.Begin(ctx, body.Session, ""); err != nil {
		return err
	}
	return replyJSON(req, struct{}{})
}

// endSession ends a session; no hook is called.
func (r *Router) endSession(ctx context.Context, req *natsx.Request) error {
	body, err := readSession(req)
	if err != nil {
		return err
	}
	if err := r.states.End(ctx, body.Session); err != nil {
		return err
	}
	return replyJSON(req, struct{}{})
}

// showSession answers with what is known of a session.
func (r *Router) showSession(ctx context.Context, req *natsx.Request) error {
	body, err := readSession(req)
	if err != nil {
		return err
	}
	state, err := r.states.Get(ctx, body.Session)
	if err != nil {
		return err
	}
	limits := r.Injection.Lowered(state.Limits)
	w := events.NewObjectWriter(nil)
	w.String("session_id", state.Session)
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
		one := state.Grants[i]
		w.String("hook", one.Hook)
		w.String("prompt", one.Prompt)
		w.String("by", one.By)
		w.String("granted", one.Granted.String())
		w.String("approval_id", one.Approval)
	})
	if state.Ended != nil {
		w.String("ended", approval.At(*state.Ended).String())
	}
	return req.Reply(nil, w.End())
}

// revoke forgets what was always allowed in a session.
func (r *Router) revoke(ctx context.Context, req *natsx.Request) error {
	body, err := readSession(req)
	if err != nil {
		return err
	}
	revoked, err := r.states.Revoke(ctx, body.Session, body.Hook, body.Prompt)
	if err != nil {
		return err
	}
	if err := r.audit.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.ApprovalRevoked, Session: body.Session, Hook: body.Hook, Action: "revoked",
		Detail: audit.Note{Reason: r.audit.View().Text(body.Prompt)},
	}.Append(nil)); err != nil {
		return err
	}
	r.Log.Info("approvals revoked", "session", body.Session, "hook", body.Hook, "revoked", revoked)
	return replyJSON(req, struct {
		Revoked int `json:"revoked"`
	}{revoked})
}
