package session

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Remember stores the grant of an "Allow always" on an approval request, once. It stores none if
// it is too late: see [Store.tooLate].
func (s *Store) Remember(ctx context.Context, q *held.Event, d approval.Decision) error {
	at, isBeyond := beyond(d.Scope, q.Emitter, q.Root)
	if !isBeyond {
		at = ofSession(sessionkey.Of(q.Emitter, q.Session))
	}
	if late, err := s.tooLate(ctx, q, at.empty.Scope); late || err != nil {
		return err
	}
	if err := s.update(ctx, at, func(state *State) bool { return state.remember(q, d) }); err != nil {
		return err
	}
	if late, err := s.tooLate(ctx, q, at.empty.Scope); !late || err != nil {
		return err
	}
	// If the session ended or was revoked in the meantime, that did not find this grant.
	return s.update(ctx, at, func(state *State) bool {
		return state.drop(func(g Grant) bool { return g.Approval == q.ID }) > 0
	})
}

// Revoke drops grants of a session and returns their number: all, those of a hook, or those of a
// hook and prompt. A name without a sender means the sessions with that id of all senders.
func (s *Store) Revoke(ctx context.Context, id, hook, prompt string) (revoked int, err error) {
	if revoked, err = s.revokeOne(ctx, id, hook, prompt); err != nil {
		return revoked, err
	}
	sender, session := sessionkey.Split(id)
	if sender != "" {
		return revoked, nil
	}
	senders, err := s.senders(ctx, session) // read now: grants that are stored from here on see the new epoch
	for _, sender := range senders {
		n, err := s.revokeOne(ctx, sessionkey.Of(sender, session), hook, prompt)
		if revoked += n; err != nil {
			return revoked, err
		}
	}
	return revoked, err
}

// senders returns the proven senders that have a state of a session, or of the tree that it is the
// root of.
func (s *Store) senders(ctx context.Context, session string) (list []string, err error) {
	for _, prefix := range [...]string{key(session), treeKeys + sessionkey.Digest(session)} {
		states, err := s.under(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, state := range states {
			if !slices.Contains(list, state.Sender) {
				list = append(list, state.Sender)
			}
		}
	}
	return list, nil
}

// revokeOne is Revoke for one session.
func (s *Store) revokeOne(ctx context.Context, name, hook, prompt string) (revoked int, err error) {
	var own int
	err = s.Update(ctx, name, func(state *State) bool {
		own = state.revoke(hook, prompt)
		return true
	})
	if err != nil {
		return 0, err
	}
	ofTree, err := s.dropOfTree(ctx, name, true, func(g Grant) bool { return g.of(hook, prompt) })
	return own + ofTree, err
}

// Epoch counts how often a session ended or its approvals were revoked.
func (s *Store) Epoch(ctx context.Context, id string) (int, error) {
	state, err := s.Get(ctx, id)
	sender, session := sessionkey.Split(id)
	if err != nil || sender == "" {
		return state.Epoch, err
	}
	all, err := s.Get(ctx, session) // revocations for every sender
	return state.Epoch + all.Epoch, err
}

// Granted returns the approval that granted a request for its session, its tree or its sender, and
// who gave it. approvalID is empty if there is none.
func (s *Store) Granted(ctx context.Context, r *held.Event) (approvalID, by string, err error) {
	places := []place{ofSession(sessionkey.Of(r.Emitter, r.Session))}
	for _, scope := range [...]string{approval.ScopeLineage, approval.ScopeAgent} {
		if at, ok := beyond(scope, r.Emitter, r.Root); ok {
			places = append(places, at)
		}
	}
	for _, at := range places {
		state, _, err := s.read(ctx, at)
		if err != nil {
			return "", "", err
		}
		if grant, found := state.Remembered(r); found {
			return grant.Approval, grant.By, nil
		}
	}
	return "", "", nil
}
