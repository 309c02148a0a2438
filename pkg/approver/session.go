package approver

import (
	"context"
	"fmt"
)

// SessionInfo is the routers' state of a session.
type SessionInfo struct {
	ID             string      `json:"session_id"`
	Agent          string      `json:"agent,omitempty"` // the agent whose session it is, if proven
	Turn           int         `json:"turn"`            // number of turns that have begun
	InjectedTokens int         `json:"injected_tokens"` // tokens used in this turn
	Budget         int         `json:"budget"`          // tokens that a turn may use
	SizeLimit      int         `json:"size_limit"`      // maximum size of one injection, in bytes
	Injections     []Injection `json:"injections"`      // the latest ones
	Grants         []Grant     `json:"grants"`
	Labels         []string    `json:"labels,omitempty"` // of the session
	Root           string      `json:"root,omitempty"`   // the session at the root of its tree; empty if it is this one
	Parent         string      `json:"parent,omitempty"` // the session that spawned it, as claimed
	Depth          int         `json:"depth,omitempty"`  // number of sessions above it
	Ended          string      `json:"ended,omitempty"`  // RFC 3339; empty if it has not ended
}

// Injection is one text that a hook added to the agent's context.
type Injection struct {
	Event  string `json:"event"`
	Hook   string `json:"hook"` // the hook's name
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Time   string `json:"time"` // RFC 3339
}

// Grant is an "Allow always": the same prompt of the same hook is not asked again, in the session
// or a wider scope.
type Grant struct {
	Hook       string `json:"hook"` // the hook's name
	Prompt     string `json:"prompt"`
	By         string `json:"by"`      // who allowed it
	Granted    string `json:"granted"` // RFC 3339
	ApprovalID string `json:"approval_id"`
	Expires    string `json:"expires,omitempty"`    // RFC 3339; empty if it does not expire
	Tool       string `json:"tool_name,omitempty"`  // of the event that asked
	Agent      string `json:"emitter,omitempty"`    // the agent that it is for, if proven
	Scope      string `json:"scope,omitempty"`      // lineage or agent; empty for the session
	Root       string `json:"root,omitempty"`       // for a lineage, the session at the root of the tree
	Session    string `json:"session_id,omitempty"` // the session that asked, if the scope is wider
}

// Grants returns the newest 500 grants beyond sessions, newest first. It lists those of one agent,
// or of all agents if agent is empty.
func (a *Approver) Grants(ctx context.Context, agent string) ([]Grant, error) {
	body := struct {
		Grants bool   `json:"grants"`
		Agent  string `json:"agent,omitempty"`
	}{true, agent}
	var reply struct {
		Grants []Grant `json:"grants"`
	}
	if _, err := a.request(ctx, a.conn.Transport.Of("session", "show"), body, &reply); err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	return reply.Grants, nil
}

// RevokeGrant revokes the grant beyond its session that an approval made. ok is false if there is
// none.
func (a *Approver) RevokeGrant(ctx context.Context, approvalID string) (ok bool, err error) {
	body := struct {
		ID string `json:"approval_id"`
	}{approvalID}
	var reply struct {
		Revoked int `json:"revoked"`
	}
	if _, err := a.request(ctx, a.conn.Transport.Of("session", "revoke"), body, &reply); err != nil {
		return false, fmt.Errorf("revoke the grant of approval %q: %w", approvalID, err)
	}
	return reply.Revoked > 0, nil
}

// Session returns the routers' state of a session.
func (a *Approver) Session(ctx context.Context, id string) (SessionInfo, error) {
	return a.SessionOf(ctx, "", id)
}

// SessionOf is [Approver.Session] for one of several agents that use the same session id. agent is
// as in records, such as "nats agent/coder", or only its last part.
func (a *Approver) SessionOf(ctx context.Context, agent, id string) (SessionInfo, error) {
	body := struct {
		ID    string `json:"session_id"`
		Agent string `json:"agent,omitempty"`
	}{id, agent}
	var info SessionInfo
	if _, err := a.request(ctx, a.conn.Transport.Of("session", "show"), body, &info); err != nil {
		return SessionInfo{}, fmt.Errorf("show session %q: %w", id, err)
	}
	return info, nil
}

// Revoke revokes the grants of a session for a hook and a prompt, and returns their number. An
// empty hook or prompt matches all.
func (a *Approver) Revoke(ctx context.Context, session, hook, prompt string) (revoked int, err error) {
	body := struct {
		ID     string `json:"session_id"`
		Hook   string `json:"hook"`
		Prompt string `json:"prompt"`
	}{session, hook, prompt}
	var reply struct {
		Revoked int `json:"revoked"`
	}
	if _, err := a.request(ctx, a.conn.Transport.Of("session", "revoke"), body, &reply); err != nil {
		return 0, fmt.Errorf("revoke grants of session %q: %w", session, err)
	}
	return reply.Revoked, nil
}
