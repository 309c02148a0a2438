package dispatch

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Revoke revokes the "Allow always" grants of a session and returns their number: all, those of a
// hook, or those of a hook and prompt; of one agent, or of every agent. It returns once that is
// recorded.
func (d *Dispatcher) Revoke(ctx context.Context, agent, session, hook, prompt string) (revoked int, err error) {
	if revoked, err = d.sessions.Revoke(ctx, sessionkey.Of(agent, session), hook, prompt); err != nil {
		return 0, err
	}
	if err := d.recordRevoked(ctx, session, hook, prompt); err != nil {
		return 0, err
	}
	d.log.Info("approvals revoked", "session_id", session, "hook", hook, "revoked", revoked)
	return revoked, nil
}

// EndSession ends a session for an operator; an empty agent is an unproven one. It calls no hook.
// It returns once that is recorded.
func (d *Dispatcher) EndSession(ctx context.Context, by, agent, session string) error {
	if err := d.sessions.End(ctx, sessionkey.Of(agent, session)); err != nil {
		return err
	}
	d.log.Warn("session ended by an operator", "agent", agent, "session_id", session, "by", by)
	return d.journal.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.FreezeKind, Session: session, Action: "ended", Detail: audit.Freeze{Scope: "session", Agent: agent, By: by},
	}.Append(nil))
}

// RevokeGrant revokes what an approval granted beyond its session. It returns once that is
// recorded.
func (d *Dispatcher) RevokeGrant(ctx context.Context, approvalID string) (revoked int, err error) {
	hook, prompt, session, ok, err := d.sessions.RevokeGrant(ctx, approvalID)
	if !ok || err != nil {
		return 0, err
	}
	if err := d.recordRevoked(ctx, session, hook, prompt); err != nil {
		return 0, err
	}
	d.log.Info("grant revoked", "approval_id", approvalID, "session_id", session, "hook", hook)
	return 1, nil
}

func (d *Dispatcher) recordRevoked(ctx context.Context, session, hook, prompt string) error {
	return d.journal.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.ApprovalRevoked, Session: session, Hook: hook, Action: "revoked",
		Detail: audit.Note{Reason: d.view.Text(prompt)},
	}.Append(nil))
}
