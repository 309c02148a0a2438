package approver

import (
	"context"
	"fmt"
)

// SessionInfo is what the routers remember of a session.
type SessionInfo struct {
	ID             string      `json:"session_id"`
	Agent          string      `json:"agent,omitempty"` // whose session it is, where that is proven
	Turn           int         `json:"turn"`            // how many turns have begun
	InjectedTokens int         `json:"injected_tokens"` // used by this turn
	Budget         int         `json:"budget"`          // tokens that a turn may use
	SizeLimit      int         `json:"size_limit"`      // bytes that one injection may have
	Injections     []Injection `json:"injections"`      // the latest
	Grants         []Grant     `json:"grants"`
	Labels         []string    `json:"labels,omitempty"` // what it has seen
	Root           string      `json:"root,omitempty"`   // the session at the root of its tree; empty where this one is
	Parent         string      `json:"parent,omitempty"` // the session that spawned it, as it claims
	Depth          int         `json:"depth,omitempty"`  // how many sessions are above it
	Ended          string      `json:"ended,omitempty"`  // RFC 3339; empty while it goes on
}

// Injection is one text of a hook that went into the agent's context.
type Injection struct {
	Event  string `json:"event"`
	Hook   string `json:"hook"` // its name
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Time   string `json:"time"` // RFC 3339
}

// Grant is an "Allow always": the same prompt of the same hook is not asked again
// in the session.
type Grant struct {
	Hook       string `json:"hook"` // its name
	Prompt     string `json:"prompt"`
	By         string `json:"by"`      // who decided
	Granted    string `json:"granted"` // when, RFC 3339
	ApprovalID string `json:"approval_id"`
	Expires    string `json:"expires,omitempty"`    // when it ends, RFC 3339; empty for never
	Tool       string `json:"tool_name,omitempty"`  // of the event that asked
	Agent      string `json:"emitter,omitempty"`    // whose it is, where that is proven
	Scope      string `json:"scope,omitempty"`      // lineage or agent; empty for the session
	Root       string `json:"root,omitempty"`       // the session at the root of the tree, of a lineage
	Session    string `json:"session_id,omitempty"` // that asked, where it is for more than that
}

// Grants returns what is granted beyond sessions, to an agent or, if agent is empty, to
// all, the newest 500 first.
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

// RevokeGrant revokes what an approval granted beyond its session; ok is false if there
// is no such grant.
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

// Session returns what the routers remember of a session: its turn's budget, its
// injections, and what it was granted for good.
func (a *Approver) Session(ctx context.Context, id string) (SessionInfo, error) {
	return a.SessionOf(ctx, "", id)
}

// SessionOf is [Approver.Session] for one of several agents that use the same id: named as
// records do, such as "nats agent/coder", or by the last part of that.
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

// Revoke revokes grants of a session and returns how many: those of a hook and of a
// prompt, empty meaning all. To revoke what is not there is not an error.
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
