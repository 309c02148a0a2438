package agentapi

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// SessionRequest is the body of an operator's requests about a session.
type SessionRequest struct {
	Session string `json:"session_id"`
	Hook    string `json:"hook"`
	Prompt  string `json:"prompt"`
	Agent   string `json:"agent"` // whose session; empty means any agent's
	// Grants asks for grants beyond sessions, of the agent or of all, instead of a session.
	Grants bool `json:"grants"`
	// Approval names such a grant to revoke, instead of a session.
	Approval string `json:"approval_id"`
}

// Check returns an error if the body names no session.
func (r SessionRequest) Check() error {
	if r.Session == "" {
		return wire.Errorf(wire.Malformed, `the body must name the session, {"session_id":"…"}`)
	}
	if err := events.CheckSession(r.Session); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	return nil
}

// readOwn reads the session of the sender that a request is about. It rejects the fields that only
// operators may set, such as whose session they mean.
func readOwn(header wire.Header, data []byte) (session string, err error) {
	var body struct {
		Session string `json:"session_id"`
	}
	if err := ReadBody(header, data, &body); err != nil {
		return "", err
	}
	return body.Session, SessionRequest{Session: body.Session}.Check()
}

// Turn begins a turn of a session of the sender.
func (a *API) Turn(ctx context.Context, sender string, header wire.Header, data []byte) error {
	return a.ofOwn(sender, header, data, func(name string) error {
		_, err := a.o.Sessions.Begin(ctx, name, "")
		return err
	})
}

// EndSession ends a session of the sender; no hook is called.
func (a *API) EndSession(ctx context.Context, sender string, header wire.Header, data []byte) error {
	return a.ofOwn(sender, header, data, func(name string) error { return a.o.Sessions.End(ctx, name) })
}

// ofOwn serves a request about a session of the sender, with the slots of an event of that session.
func (a *API) ofOwn(sender string, header wire.Header, data []byte, do func(name string) error) error {
	session, err := readOwn(header, data)
	if err != nil {
		return err
	}
	release, err := a.TakeSlots(sender, session)
	if err != nil {
		return err
	}
	defer release()
	return do(sessionkey.Of(sender, session))
}
