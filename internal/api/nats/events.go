package nats

import (
	"context"
	"errors"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// decide returns the handler of a verb: it decodes an event, passes it to the dispatcher and sends
// the answer.
func (s *Server) decide(verb string) handler {
	return func(ctx context.Context, req *service.Request) error {
		in, err := s.decode(verb, req)
		if err != nil {
			return err
		}
		answer, err := s.agents.Decide(ctx, verb, in)
		if err != nil {
			return err
		}
		if answer.Pending() {
			s.replyLater(req, answer)
			answer.Sent(nil)
			return nil
		}
		err = req.Reply(s.agents.Header(verb, answer), answer.Body)
		answer.Sent(err)
		return err
	}
}

// replyLater answers when a person has decided. A waiting request keeps neither its data nor its
// headers alive.
func (s *Server) replyLater(req *service.Request, answer *dispatch.Answer) {
	header, later := s.agents.Header("execute", answer), req.WithoutData()
	eventID, chainID := answer.EventID, answer.ChainID // do not retain the answer, which references the event
	answer.Await(func(body []byte) {
		if err := later.Reply(header, body); err != nil {
			s.log.Warn("reply to waiting agent failed", "event_id", eventID, "chain_id", chainID, "error", err)
		}
	})
}

func (s *Server) contributions(ctx context.Context, req *service.Request) error {
	channel := s.conn.Tail("contributions", req.Subject)
	if err := events.CheckChannel(channel); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	sender, err := s.sender(req)
	if err != nil {
		return err
	}
	in, err := s.agents.ReadHeader(sender, req.Header)
	if err != nil {
		return err
	}
	answer, err := s.dispatch.Contributions(ctx, channel, in)
	if err != nil {
		return err
	}
	err = req.Reply(s.agents.Header("contributions", answer), answer.Body)
	answer.Sent(err)
	return err
}

// explain answers with the hooks that an event would pass.
func (s *Server) explain(_ context.Context, req *service.Request) error {
	if len(req.Data) == 0 {
		req.Data = []byte("{}")
	}
	in, err := s.decode("explain", req)
	if err != nil {
		return err
	}
	explained, err := s.dispatch.Explain(in, s.opts.Registry.Instances)
	if err != nil {
		return err
	}
	return replyJSON(req, explained)
}

// decode reads an event from a request on <prefix>.<verb>.<event>.
func (s *Server) decode(verb string, req *service.Request) (dispatch.Request, error) {
	name, err := s.conn.EventName(verb, req.Subject)
	if err != nil {
		return dispatch.Request{}, wire.Errorf(wire.Malformed, "%v", err)
	}
	sender, err := s.sender(req)
	if errors.Is(err, errNoIdentity) && verb == "emit" && name == events.ModuleLoadFailed {
		err = nil // from a worker: NATS lets it emit no other event
	}
	if err != nil {
		return dispatch.Request{}, err
	}
	return s.agents.ReadEvent(name, sender, req.Header, req.Data)
}

// errNoIdentity refuses a request from the routers' own account.
var errNoIdentity = wire.Errorf(wire.Forbidden, "the connection proves no identity: use the credentials of an agent or a person")

// shortestAccount returns the length of the shortest name that an account of the NATS server can
// have: accounts of identities are public keys.
func (s *Server) shortestAccount() int {
	if s.opts.Identities != nil {
		return publicKeyLength
	}
	return 1
}

// publicKeyLength is the length of the public key of an account, as NATS writes it.
const publicKeyLength = 56

// sender returns the proven sender of a request, or "". With identities, it fails if the connection
// proves none of them.
func (s *Server) sender(req *service.Request) (string, error) {
	if s.opts.Identities == nil && !s.opts.Accounts {
		return "", nil
	}
	sender, err := req.Sender(s.shortestAccount())
	switch {
	case err != nil:
		return "", err
	case s.opts.Identities == nil:
		return sender.String(), nil
	case sender.Account == "":
		return "", errNoIdentity
	}
	label, err := s.opts.Identities.Sender(sender.Account)
	return agentapi.Sender(label), err
}
