package nats

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits of a request's headers, in bytes.
const (
	maxDefaults = 8 << 10
	headerRoom  = 32 << 10 // what headers and envelope may need beside the data
	maxTimeout  = 24 * time.Hour
)

func (s *Server) emit(ctx context.Context, req *natsx.Request) error {
	return s.serve(ctx, "emit", req, s.dispatch.Emit)
}

func (s *Server) execute(ctx context.Context, req *natsx.Request) error {
	return s.serve(ctx, "execute", req, s.dispatch.Execute)
}

func (s *Server) collect(ctx context.Context, req *natsx.Request) error {
	return s.serve(ctx, "collect", req, s.dispatch.Collect)
}

// serve decodes an event, has it decided, and sends the answer.
func (s *Server) serve(ctx context.Context, verb string, req *natsx.Request,
	decide func(context.Context, dispatch.Request) (*dispatch.Answer, error),
) error {
	in, err := s.decode(verb, req)
	if err != nil {
		return err
	}
	answer, err := decide(ctx, in)
	if err != nil {
		return err
	}
	if answer.Pending() {
		s.replyLater(req, answer)
		answer.Sent(nil)
		return nil
	}
	err = req.Reply(s.header(verb, answer), answer.Body)
	answer.Sent(err)
	return err
}

// replyLater answers when a person has decided. What waits holds neither the request's
// data nor its headers.
func (s *Server) replyLater(req *natsx.Request, answer *dispatch.Answer) {
	header, later := s.header("execute", answer), req.WithoutData()
	eventID, chainID := answer.EventID, answer.ChainID // not the answer, which holds the event
	answer.Await(func(body []byte) {
		if err := later.Reply(header, body); err != nil {
			s.log.Warn("reply to waiting agent failed", "event_id", eventID, "chain_id", chainID, "error", err)
		}
	})
}

func (s *Server) contributions(ctx context.Context, req *natsx.Request) error {
	channel := s.conn.Tail("contributions", req.Subject)
	if err := events.CheckChannel(channel); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	in, err := s.readHeader(req)
	if err != nil {
		return err
	}
	answer, err := s.dispatch.Contributions(ctx, channel, in)
	if err != nil {
		return err
	}
	err = req.Reply(s.header("contributions", answer), answer.Body)
	answer.Sent(err)
	return err
}

// explain answers with the hooks that an event would go through.
func (s *Server) explain(_ context.Context, req *natsx.Request) error {
	if len(req.Data) == 0 {
		req.Data = []byte("{}")
	}
	in, err := s.decode("explain", req)
	if err != nil {
		return err
	}
	list, err := s.dispatch.Explain(in, s.opts.Registry.Instances)
	if err != nil {
		return err
	}
	return replyJSON(req, map[string]any{"hooks": list})
}

// decode reads an event from a request on <prefix>.<verb>.<event>.
func (s *Server) decode(verb string, req *natsx.Request) (dispatch.Request, error) {
	name, err := s.conn.EventName(verb, req.Subject)
	if err != nil {
		return dispatch.Request{}, wire.Errorf(wire.Malformed, "%v", err)
	}
	if len(req.Data) > s.opts.MaxData+headerRoom { // not worth parsing
		return dispatch.Request{}, s.dispatch.TooLarge(len(req.Data))
	}
	in, err := s.readHeader(req)
	if err != nil {
		return dispatch.Request{}, err
	}
	if in.Event, in.Object, err = events.Decode(name, req.Header, req.Data); err != nil {
		return dispatch.Request{}, wire.Errorf(wire.Malformed, "%v", err)
	}
	return in, nil
}

// readHeader reads what a request carries beside the event.
func (s *Server) readHeader(req *natsx.Request) (in dispatch.Request, err error) {
	h := wire.ReadRequestHeader(req.Header)
	in = dispatch.Request{
		Retry:       h.Retry == "1",
		Traceparent: h.Traceparent, Tracestate: h.Tracestate, Turn: h.Turn,
	}
	if in.Emitter, err = s.sender(req); err != nil {
		return in, err
	}
	if in.Timeout, err = wire.Timeout(h.Timeout, 0, maxTimeout); err != nil {
		return in, err
	}
	if in.Wait, err = waitOf(h.Wait); err != nil {
		return in, err
	}
	if in.Defaults, err = defaultFields(h.Defaults); err != nil {
		return in, err
	}
	if s.opts.ForwardBaggage {
		in.Baggage = h.Baggage
	}
	return in, nil
}

// waitOf reads how long the reply to an execute may wait for a person.
func waitOf(text string) (time.Duration, error) {
	if text == "" {
		return dispatch.DefaultWait, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 {
		return 0, wire.Errorf(wire.Malformed, "%s must be a whole number of milliseconds", wire.HeaderWait)
	}
	return time.Duration(min(ms, dispatch.MaxWait.Milliseconds())) * time.Millisecond, nil
}

func defaultFields(text string) (events.Object, error) {
	switch {
	case text == "":
		return events.Object{}, nil
	case len(text) > maxDefaults:
		return events.Object{}, wire.Errorf(wire.TooLarge, "%s has %d bytes: at most %d are allowed", wire.HeaderDefaults, len(text), maxDefaults)
	}
	defaults, err := events.ParseObject([]byte(text))
	if err != nil {
		return events.Object{}, wire.Errorf(wire.Malformed, "%s: %v", wire.HeaderDefaults, err)
	}
	return defaults, nil
}

// sender is who sent a request as far as the connection proves, or "". Where there are
// identities, the error says that the connection proves none of them.
func (s *Server) sender(req *natsx.Request) (string, error) {
	sender := req.Sender()
	switch {
	case s.opts.Identities == nil && !s.opts.Accounts:
		return "", nil
	case s.opts.Identities == nil:
		return sender.String(), nil
	case sender.Account == "":
		return "", wire.Errorf(wire.Forbidden, "the connection proves no identity: use the credentials of an agent or a person")
	}
	label, err := s.opts.Identities.Sender(sender.Account)
	return "nats " + label, err
}

// header is what an answer carries beside its body.
func (s *Server) header(verb string, a *dispatch.Answer) wire.Header {
	h := make(wire.Header, 4)
	switch verb {
	case "emit", "execute":
		h[wire.HeaderEventID] = []string{events.Escape(a.EventID)}
		h[wire.HeaderChainID] = []string{a.ChainID}
		h[wire.HeaderCount] = []string{strconv.Itoa(a.Called)}
		h[wire.HeaderAudit] = s.auditMode
	}
	set := func(name, value string) {
		if value != "" {
			h[name] = []string{value}
		}
	}
	set(wire.HeaderDeniedBy, a.DeniedBy)
	set(wire.HeaderFailedOpen, strings.Join(a.FailedOpen, ","))
	set(wire.HeaderFrom, strings.Join(a.From, ","))
	set(wire.HeaderMissing, strings.Join(a.Missing, ","))
	return h
}
