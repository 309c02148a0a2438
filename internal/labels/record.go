package labels

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
)

// Record is the stored state of one session.
type Record struct {
	Session string           `json:"session_id,omitempty"` // empty for events without a session
	Sender  string           `json:"sender,omitempty"`     // the proven owner; empty if unproven
	Labels  map[string]Added `json:"labels,omitempty"`
	// Cleared is, for each label that was removed, when the person was asked. Labels of the
	// sender's other sessions from before that time do not apply to this session.
	Cleared map[string]time.Time `json:"cleared,omitempty"`
	// Asked is when a person was last asked to remove each label. If a hook adds the label again,
	// it is stored again, so that the answer does not remove what came after the question.
	Asked map[string]time.Time `json:"asked,omitempty"`
	// Claims are the ids that this session claimed as its parents or roots. Parent, Root and
	// Depth are those of the first claim.
	Claims []string  `json:"claims,omitempty"`
	Parent string    `json:"parent,omitempty"`
	Root   string    `json:"root,omitempty"`
	Depth  int       `json:"depth,omitempty"`
	Time   time.Time `json:"time"` // of the last write
}

// Added is when a label was last added, and by which hook.
type Added struct {
	Time time.Time `json:"time"`
	Hook string    `json:"hook,omitempty"`
}

// Name returns the name of the record's session. Events of a proven sender without a session have a
// name too.
func (r Record) Name() string { return Name(r.Sender, r.Session) }

// Name returns the name of a sender's session. It is empty if both are empty.
func Name(sender, session string) string {
	if session == "" && sender != "" {
		return "\x00" + sender
	}
	return sessionkey.Of(sender, session)
}

// Split reverses [Name].
func Split(name string) (sender, session string) { return sessionkey.Split(name) }

// Key returns the key of a name's record in the store, without prefix.
func Key(name string) string { return sessionkey.Digest(name) }

// With returns the record with labels that a hook added now.
func (r Record) With(hook string, now time.Time, labels ...string) Record {
	r.Labels = maps.Clone(r.Labels)
	if r.Labels == nil {
		r.Labels = map[string]Added{}
	}
	for _, label := range labels {
		r.Labels[label] = Added{Time: now.UTC(), Hook: cmp.Or(hook, r.Labels[label].Hook)}
	}
	r.Time = now.UTC()
	return r
}

// MaxClaims is the maximum number of claims of one session.
const MaxClaims = 16

// Claiming returns the record with claims to a parent and a root; each may be empty. above is the
// parent's record. ok is false if there is no room for them.
func (r Record) Claiming(now time.Time, parent, root string, above Record) (_ Record, ok bool) {
	for _, id := range [...]string{parent, root} {
		if !r.hasClaim(id) {
			r.Claims = append(slices.Clone(r.Claims), id)
		}
	}
	if r.Root == "" && len(r.Claims) > 0 {
		r.Parent = r.Claims[0]
		r.Root = cmp.Or(above.Root, r.Claims[len(r.Claims)-1])
		r.Depth = max(above.Depth+1, len(r.Claims))
	}
	r.Time = now.UTC()
	return r, len(r.Claims) <= MaxClaims
}

// HasClaim reports whether the record has these claims.
func (r Record) HasClaim(parent, root string) bool { return r.hasClaim(parent) && r.hasClaim(root) }

// hasClaim reports whether a claim to a session adds nothing.
func (r Record) hasClaim(id string) bool {
	return id == "" || id == r.Session || slices.Contains(r.Claims, id)
}

// Asking returns the record with the time at which a person is asked to remove labels. at is a time
// from [Table.After].
func (r Record) Asking(at time.Time, labels ...string) Record {
	r.Asked = maps.Clone(r.Asked)
	for _, label := range labels {
		note(&r.Asked, label, at)
	}
	r.Time = at.UTC()
	return r
}

// Without returns the record without the labels that a person removed now, except for those that
// were added after the person was asked.
func (r Record) Without(now, asked time.Time, labels ...string) Record {
	r.Labels, r.Cleared = maps.Clone(r.Labels), maps.Clone(r.Cleared)
	for _, label := range labels {
		note(&r.Cleared, label, asked)
		if !r.Labels[label].Time.After(asked) {
			delete(r.Labels, label)
		}
	}
	r.Time = now.UTC()
	return r
}

// note sets a label's time, unless a later one is set.
func note(times *map[string]time.Time, label string, at time.Time) {
	if *times == nil {
		*times = map[string]time.Time{}
	}
	(*times)[label] = later((*times)[label], at.UTC())
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// names returns the labels of the record, sorted.
func (r Record) names() []string { return slices.Sorted(maps.Keys(r.Labels)) }

// has reports whether the record has a label.
func (r Record) has(label string) bool { _, ok := r.Labels[label]; return ok }

// Encode returns the record as JSON. [Decode] reverses it.
func (r Record) Encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the labels of a session: %w", err)
	}
	return text, nil
}

// Decode parses a record.
func Decode(text []byte) (r Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("decode the labels of a session: %w", err)
	}
	return r, nil
}
