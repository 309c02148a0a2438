package approval

import (
	"fmt"
	"slices"
	"time"
)

// What an "Allow always" is for: [Answer.Scope].
const (
	// ScopeSession is the session that asked; so is the empty scope.
	ScopeSession = "session"
	// ScopeLineage is the tree of sessions that the session belongs to, as far as they are
	// of the same proven sender. The tree is what these sessions claim.
	ScopeLineage = "lineage"
	// ScopeAgent is every session of the same proven sender.
	ScopeAgent = "agent"
)

// MaxGrant is how long an "Allow always" may hold beyond its session, and how long it does
// where the answer does not say.
const MaxGrant = 30 * 24 * time.Hour

// ScopesFor returns the scopes that an "Allow always" of who, as far as the connection
// proves, may have: nil where that is the session alone, since who or the sender is not
// proven, several people must allow, it is not offered, or it is decided.
func (r Record) ScopesFor(who string) []string {
	if who == "" || r.Emitter == "" || r.Needs != nil || r.Decision != nil || !slices.ContainsFunc(r.Options, Remembered) {
		return nil
	}
	return []string{ScopeSession, ScopeLineage, ScopeAgent}
}

// grant sets what a decision is remembered for, by what its answer says.
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
