package session

import (
	"context"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// place is the key of a State, and the State to use if nothing is stored there.
type place struct {
	key   string
	empty State
}

// ofSession returns the place of a session.
func ofSession(name string) place {
	sender, id := sessionkey.Split(name)
	return place{key(name), State{Session: id, Sender: sender}}
}

// scopedKeys is the prefix of the keys of states with grants beyond a session: for a tree of
// sessions, or for a sender.
const scopedKeys = "scoped"

// treeKeys is the prefix of those for trees. The digest of the root follows.
const treeKeys = scopedKeys + ".lineage."

// beyond returns the place of grants in a scope wider than a session. A tree is identified by its
// root. Unproven senders have no such place.
func beyond(scope, sender, root string) (place, bool) {
	switch {
	case sender == "":
	case scope == approval.ScopeLineage && root != "":
		return place{treeKeys + sessionkey.Digest(root) + "." + sessionkey.Digest(sender), State{Scope: scope, Session: root, Sender: sender}}, true
	case scope == approval.ScopeAgent:
		return place{scopedKeys + ".agent." + sessionkey.Digest(sender), State{Scope: scope, Sender: sender}}, true
	}
	return place{}, false
}

// Scoped returns the states with unexpired grants beyond sessions, of one sender or of all.
func (s *Store) Scoped(ctx context.Context, sender string) (list []State, err error) {
	now := time.Now()
	states, err := s.under(ctx, scopedKeys)
	for _, state := range states {
		if state.expire(now); len(state.Grants) > 0 && (sender == "" || state.Sender == sender) {
			list = append(list, state)
		}
	}
	return list, err
}

// dropOfTree drops grants of the tree that a session is the root of, and returns their number. With
// past, earlier requests can no longer be granted, as after the root's end.
func (s *Store) dropOfTree(ctx context.Context, root string, past bool, match func(Grant) bool) (dropped int, err error) {
	sender, id := sessionkey.Split(root)
	at, ok := beyond(approval.ScopeLineage, sender, id)
	if !ok {
		return 0, nil
	}
	err = s.update(ctx, at, func(state *State) bool {
		dropped = state.drop(match)
		if past {
			state.Ended = new(time.Now().UTC())
		}
		return dropped > 0 || past
	})
	return dropped, err
}

// Past reports whether the session of an approval request ended, or its approvals were revoked,
// since a person was asked.
func (s *Store) Past(ctx context.Context, q *held.Event) (bool, error) {
	if q.Session == "" {
		return false, nil
	}
	epoch, err := s.Epoch(ctx, sessionkey.Of(q.Emitter, q.Session))
	return epoch != q.Epoch, err
}

// tooLate reports whether a decision on an approval request must not be remembered in a scope: the
// session, or the root of its lineage, ended since the event arrived, or approvals of the session
// were revoked since a person was asked.
func (s *Store) tooLate(ctx context.Context, q *held.Event, scope string) (bool, error) {
	own := sessionkey.Of(q.Emitter, q.Session)
	if past, err := s.Past(ctx, q); err != nil || past {
		return true, err
	}
	names := []string{own}
	if scope == approval.ScopeLineage {
		names = append(names, sessionkey.Of(q.Emitter, q.Root))
	}
	for _, name := range names {
		if state, err := s.Get(ctx, name); err != nil || state.over(q) {
			return true, err
		}
	}
	return false, nil
}

// RevokeGrant drops the grant beyond its session that an approval made, and returns the hook's
// name, the prompt and the session. ok is false if there is no such grant. The event that asked is
// not permitted again.
func (s *Store) RevokeGrant(ctx context.Context, approvalID string) (hook, prompt, session string, ok bool, err error) {
	list, err := s.Scoped(ctx, "")
	if err != nil {
		return "", "", "", false, err
	}
	for _, state := range list {
		of := func(one Grant) bool { return one.Approval == approvalID }
		i := slices.IndexFunc(state.Grants, of)
		if i < 0 {
			continue
		}
		g := state.Grants[i]
		// First the step that a retry would skip: without its grant, nothing names the session.
		err := s.Update(ctx, sessionkey.Of(state.Sender, g.Session), func(state *State) bool { state.Epoch++; return true })
		if err != nil {
			return "", "", "", false, err
		}
		at, _ := beyond(state.Scope, state.Sender, state.Session)
		err = s.update(ctx, at, func(state *State) bool { ok = state.drop(of) > 0; return ok })
		return g.Hook, g.Prompt, g.Session, ok, err
	}
	return "", "", "", false, nil
}
