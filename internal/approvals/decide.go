package approvals

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Ask stores a question, unless the event has one already, and returns the one
// that is stored. asked is false where it was there. Same event, other data: 409.
func (d *Service) Ask(ctx context.Context, s *Stored) (stored *Stored, asked bool, err error) {
	if err := d.room(s.ID, s.Session); err != nil {
		return nil, false, err
	}
	// Decisions stay for ever and questions do not: an old one must not decide.
	s.Segment = d.log.Live().Number
	line, err := d.winner(ctx, s.Segment, s.ID)
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		return nil, false, unavailable(err)
	}
	body, tooLarge := d.fit(s)
	if tooLarge != nil {
		return nil, false, tooLarge
	}
	if err == nil {
		stored, err = d.load(ctx, s.ID)
		if wire.CodeOf(err) == wire.NotFound {
			return nil, false, wire.Errorf(wire.Conflict, "a person was asked about the event %q before, and it was decided at %s: send a new event, with an id of its own",
				s.EventID, line.Decided)
		}
	} else {
		_, err = d.bucket.Create(ctx, s.ID, body, time.Until(s.Expires.Time)+keptAfter)
		if stored, asked = s, err == nil; errors.Is(err, natsx.ErrRevision) {
			stored, err = d.load(ctx, s.ID)
		}
	}
	switch {
	case err != nil:
		return nil, false, unavailable(err)
	case stored.Sent != s.Sent:
		return nil, false, otherData(s.EventID)
	}
	d.mu.Lock()
	d.learn(stored, len(body))
	d.mu.Unlock()
	return stored, asked, nil
}

// fit is a question as it is stored. Where it is too large for the server, what
// hooks changed is left out.
func (d *Service) fit(s *Stored) ([]byte, error) {
	room := int(d.bus.MaxPayload()) - headerRoom
	body := s.append(nil)
	if len(body) > room && len(s.Changes) > 0 {
		s.Changes = nil
		body = s.append(nil)
	}
	if len(body) > room {
		return nil, wire.Errorf(wire.TooLarge, "the question with its data has %d bytes, more than the %d that the server's max_payload leaves: "+
			"nothing was decided; raise max_payload, or send less", len(body), room)
	}
	return body, nil
}

// headerRoom is what the headers of a message to the store may need, in bytes.
const headerRoom = 4 << 10

func otherData(eventID string) error {
	return wire.Errorf(wire.Conflict, "a person was asked about the event %q with other data: send the same data, or another event id", eventID)
}

// room refuses a question too many. One that is there takes none.
func (d *Service) room(id, session string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	share := d.sessions[session]
	switch e := d.questions[id]; {
	case e != nil && e.known:
		return nil
	case d.open >= d.MaxOpen:
		return wire.Errorf(wire.Overloaded, "%d questions are open, which is the limit: nothing was decided, try again later", d.open)
	case share.open >= d.MaxPerSession:
		return wire.Errorf(wire.Overloaded, "%d questions of this session are open, which is the limit: nothing was decided, try again when some are answered", share.open)
	case share.kept >= 10*d.MaxPerSession:
		return wire.Errorf(wire.Overloaded, "%d questions of this session are kept, for a day each, which is the limit: nothing was decided", share.kept)
	case d.kept >= d.MaxKept:
		return wire.Errorf(wire.Overloaded, "questions of %d bytes are kept, for a day each, which is the limit: nothing was decided", d.kept)
	}
	return nil
}

// Find returns the question of an event, nil where it has none. sent is the
// digest of the data it came with; other data is refused with 409.
func (d *Service) Find(ctx context.Context, id, eventID, sent string) (*Stored, error) {
	s, err := d.load(ctx, id)
	if wire.CodeOf(err) == wire.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Sent != sent {
		return nil, otherData(eventID)
	}
	d.mu.Lock()
	d.learn(s, len(s.Data))
	d.mu.Unlock()
	return s, nil
}

// Knows refuses an event that has a question with other data, as far as this
// replica has seen. It reads no store. sent makes the digest, where it is needed.
func (d *Service) Knows(id, eventID string, sent func() string) error {
	d.mu.Lock()
	e := d.questions[id]
	var have string
	if e != nil && e.known {
		have = e.sent
	}
	d.mu.Unlock()
	if have != "" && have != sent() {
		return otherData(eventID)
	}
	return nil
}

// Empty reports whether this replica knows no question at all.
func (d *Service) Empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.questions) == 0
}

// Answer decides a question, as who the connection proves to be.
func (d *Service) Answer(ctx context.Context, id string, a approval.Answer, who string) (approval.Decision, error) {
	s, err := d.load(ctx, id)
	if err != nil {
		return approval.Decision{}, err
	}
	if d.ProvenOnly && who == "" {
		return approval.Decision{}, wire.Errorf(wire.Forbidden, "nobody is known to stand behind this answer: answer in the console, or over NATS from an account of its own")
	}
	if already := d.known(id); already != nil {
		return approval.Decision{}, tooLate(*already)
	}
	decision, err := approval.Decide(s.Request, a, who, time.Now())
	if err != nil {
		return approval.Decision{}, wire.FromError(err)
	}
	return d.Decide(ctx, s, decision, nuid.Next())
}

// Decide makes a decision the question's only one. Where another was first, the
// error is a refusal that names it. The nonce tells the decision from others of
// the same words; with the one of an earlier try this is that try again.
func (d *Service) Decide(ctx context.Context, s *Stored, decision approval.Decision, nonce string) (approval.Decision, error) {
	err := d.log.Decide(ctx, s.segment(), s.ID, d.decisionRecord(s, decision, nonce))
	if err != nil {
		line, readErr := d.winner(ctx, s.segment(), s.ID) // an append without an answer may have been the first
		switch {
		case readErr != nil && errors.Is(err, natsx.ErrRevision):
			return approval.Decision{}, unavailable(readErr)
		case readErr != nil:
			return approval.Decision{}, unavailable(err)
		case line.Nonce != nonce:
			d.hear(s, line.Decision)
			return approval.Decision{}, tooLate(line.Decision)
		}
		decision = line.Decision
	}
	if err := d.remember(ctx, s, decision); err != nil {
		d.Log.Warn("could not remember an approval for its session: it will be asked again", "approval", s.ID, "error", err)
	}
	d.hear(s, decision)
	if d.Decided != nil {
		d.Decided(ctx, s, decision)
	}
	return decision, nil
}

// remember has a decision kept that holds for its session.
func (d *Service) remember(ctx context.Context, s *Stored, decision approval.Decision) error {
	if !decision.Granted || !approval.Remembered(decision.Option) || s.Session == "" || d.Remember == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rememberTime)
	defer cancel()
	return d.Remember(ctx, s, decision)
}

// rememberTime bounds a try to remember: who waits for the decision waits for it.
const rememberTime = 500 * time.Millisecond

// hear takes in a decision that is known to stand in the stream.
func (d *Service) hear(s *Stored, decision approval.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.learn(s, len(s.Data))
	d.decided(s.ID, decision)
}

// expire decides a question whose time is over.
func (d *Service) expire(ctx context.Context, id string, _ int) (done bool) {
	d.mu.Lock()
	e := d.questions[id]
	over := e == nil || !e.pending()
	d.mu.Unlock()
	if over {
		return true
	}
	s, err := d.load(ctx, id)
	if wire.CodeOf(err) == wire.NotFound {
		return true
	}
	if err == nil {
		_, err = d.Decide(ctx, s, approval.TimedOut(s.Request, time.Now()), "timeout-"+d.replica)
	}
	if code := wire.CodeOf(err); err == nil || code == wire.Conflict || code == wire.Gone {
		return true
	}
	d.Log.Warn("could not decide a question whose time is over, trying again", "approval", id, "error", err)
	return false
}

func tooLate(d approval.Decision) error {
	if d.TimedOut {
		return wire.Errorf(wire.Gone, "the time for an answer was over at %s: the default holds, which is to %s", d.Decided, verb(d))
	}
	if d.Option == "" {
		return wire.Errorf(wire.Conflict, "already decided by %s at %s, without an answer: %s", d.DecidedBy, d.Decided, verb(d))
	}
	return wire.Errorf(wire.Conflict, "already decided: %q by %s at %s", d.Option, d.DecidedBy, d.Decided)
}

func verb(d approval.Decision) string {
	if d.Granted {
		return "allow"
	}
	return "deny"
}
