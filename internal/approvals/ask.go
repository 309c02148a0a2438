package approvals

import (
	"context"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Ask stores an approval request, unless the event has one, and returns the stored one. asked
// reports whether it is new. The same event with other data is a conflict.
func (s *Service) Ask(ctx context.Context, r *held.Event) (stored *held.Event, asked bool, err error) {
	if err := s.admit(r.ID, r.Emitter, sessionkey.Of(r.Emitter, r.Session)); err != nil {
		return nil, false, err
	}
	if r.Needs != nil {
		r.Progress, _, _ = s.options.People.CountApproval(r.Needs, r.Emitter, nil, "")
	}
	// Decisions are kept forever and requests are not: an old decision must not decide a new
	// request.
	r.Segment = s.log.Live().Number
	old, err := s.readDecision(ctx, r.Segment, r.ID)
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		return nil, false, unavailable(err)
	}
	body, tooLarge := s.fit(r)
	if tooLarge != nil {
		return nil, false, tooLarge
	}
	if err == nil {
		stored, err = s.load(ctx, r.ID)
		if wire.CodeOf(err) == wire.NotFound {
			return nil, false, wire.Errorf(wire.Conflict, "a person was asked about the event %q before, and it was decided at %s: send a new event with a new id",
				r.EventID, old.Decided)
		}
	} else {
		_, err = s.bucket.Create(ctx, r.ID, body, time.Until(r.Expires.Time)+keptAfter)
		switch {
		case err == nil: // unlike r, the decoded request does not keep the agent's message in memory
			asked = true
			stored, err = held.Decode(body)
		case errors.Is(err, natsx.ErrRevision):
			stored, err = s.load(ctx, r.ID)
		}
	}
	switch {
	case err != nil:
		return nil, false, unavailable(err)
	case stored.Sent != r.Sent:
		return nil, false, otherData(r.EventID)
	}
	s.mu.Lock()
	s.addRequest(stored, len(body))
	s.mu.Unlock()
	return stored, asked, nil
}

// fit encodes an approval request for the store. If it is too large for the server, it omits
// what hooks changed.
func (s *Service) fit(r *held.Event) ([]byte, error) {
	room := int(s.conn.MaxPayload()) - headerRoom
	body := r.Append(nil)
	if len(body) > room && len(r.Changes) > 0 {
		r.Changes = nil
		body = r.Append(nil)
	}
	if len(body) > room {
		return nil, wire.Errorf(wire.TooLarge, "the approval request with its data has %d bytes, more than the %d that the server's max_payload leaves: "+
			"nothing was decided; raise max_payload, or send less", len(body), room)
	}
	return body, nil
}

// headerRoom is the room in bytes for the headers of a message to the store.
const headerRoom = 4 << 10

func otherData(eventID string) error {
	return wire.Errorf(wire.Conflict, "a person was asked about the event %q with other data: send the same data, or another event id", eventID)
}

// admit refuses an approval request beyond a limit. A stored one always passes.
func (s *Service) admit(id, emitter, owned string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, agent := s.sessions[owned], s.agents[emitter]
	switch e := s.entries[id]; {
	case e != nil && e.known:
		return nil
	case s.open >= s.options.MaxOpen:
		return wire.Errorf(wire.Overloaded, "%d approval requests are open, which is the limit: nothing was decided, try again later", s.open)
	case session.open >= s.options.MaxPerSession:
		return wire.Errorf(wire.Overloaded, "%d approval requests of this session are open, which is the limit: nothing was decided, try again when some are answered", session.open)
	case session.kept >= 10*s.options.MaxPerSession:
		return wire.Errorf(wire.Overloaded, "%d approval requests of this session are stored, for a day each, which is the limit: nothing was decided", session.kept)
	case agent.open >= max(s.options.MaxOpen/agentShare, s.options.MaxPerSession):
		return wire.Errorf(wire.Overloaded, "%d approval requests of this agent are open, which is the limit for one: nothing was decided, try again when some are answered", agent.open)
	case agent.bytes >= s.options.MaxKept/agentShare:
		return wire.Errorf(wire.Overloaded, "%d bytes of approval requests of this agent are stored, for a day each, which is the limit for one: nothing was decided", agent.bytes)
	case s.kept >= s.options.MaxKept:
		return wire.Errorf(wire.Overloaded, "%d bytes of approval requests are stored, for a day each, which is the limit: nothing was decided", s.kept)
	}
	return nil
}
