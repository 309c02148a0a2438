package approval

import (
	"fmt"
	"slices"
	"time"
)

// Values of [Answer.Scope].
const (
	// ScopeSession covers the session that asked. It is the default.
	ScopeSession = "session"
	// ScopeLineage covers the tree of sessions that the session belongs to, limited to those of the
	// same proven sender. The tree is as claimed by the sessions.
	ScopeLineage = "lineage"
	// ScopeAgent covers every session of the same proven sender.
	ScopeAgent = "agent"
)

// MaxGrant is the longest time to the expiry of an "Allow always", and the default for scopes wider
// than the session.
const MaxGrant = 30 * 24 * time.Hour

// ScopesFor returns the scopes that who, a proven identity, may give an "Allow always" on this
// request. It returns nil if only the session is possible: who or the sender is not proven, several
// people must allow, Allow always is not offered, or the request is decided.
func (r Record) ScopesFor(who string) []string {
	if who == "" || r.Emitter == "" || r.Needs != nil || r.Decision != nil || !slices.ContainsFunc(r.Options, Remembered) {
		return nil
	}
	return []string{ScopeSession, ScopeLineage, ScopeAgent}
}

// grant sets the scope and the expiry of an "Allow always" from its answer.
func (d *Decision) grant(q Request, a Answer, offered bool) error {
	wide := a.Scope == ScopeLineage || a.Scope == ScopeAgent
	switch expires := a.Expires.Time; {
	case a.Scope == "" && expires.IsZero():
		return nil
	case !wide && a.Scope != "" && a.Scope != ScopeSession:
		return fmt.Errorf("%w: there is no scope %q: session, lineage and agent are known", ErrMalformed, clip(a.Scope, 80))
	case !Remembered(d.Option) || !offered:
		return fmt.Errorf("%w: scope and expires go with an Allow always that is offered", ErrMalformed)
	case q.Needs != nil:
		return fmt.Errorf("%w: nothing is allowed always where several people must allow", ErrMalformed)
	case !expires.IsZero() && (!expires.After(d.Decided.Time) || expires.After(d.Decided.Add(MaxGrant))):
		return fmt.Errorf("%w: expires is %s: a time within the next %d days is needed", ErrMalformed, a.Expires, MaxGrant/(24*time.Hour))
	}
	d.GrantExpires = a.Expires
	if wide {
		d.Scope = a.Scope
		if d.GrantExpires.IsZero() {
			d.GrantExpires = At(d.Decided.Add(MaxGrant))
		}
	}
	return nil
}
