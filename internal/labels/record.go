package labels

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
)

// Record is what is stored of one session.
type Record struct {
	Session string           `json:"session_id,omitempty"` // empty: of events without one
	Sender  string           `json:"sender,omitempty"`     // whose session it is, where that is proven
	Labels  map[string]Added `json:"labels,omitempty"`
	// Cleared says when a person removed labels: what other sessions of the sender had seen
	// before holds for this one no more.
	Cleared map[string]time.Time `json:"cleared,omitempty"`
	// Claims are the ids of the sessions that this one said it is below. Parent, Root and
	// Depth are those of the first claim.
	Claims []string  `json:"claims,omitempty"`
	Parent string    `json:"parent,omitempty"`
	Root   string    `json:"root,omitempty"`
	Depth  int       `json:"depth,omitempty"`
	Time   time.Time `json:"time"` // of the last write
}

// Added says when a label was added last, and by which hook.
type Added struct {
	Time time.Time `json:"time"`
	Hook string    `json:"hook,omitempty"`
}

// Name names the session of a record. Events of a proven sender that name no session have
// one too.
func (r Record) Name() string { return Name(r.Sender, r.Session) }

// Name names a session of a sender; empty where nobody is proven and there is no session.
func Name(sender, session string) string {
	if session == "" && sender != "" {
		return "\x00" + sender
	}
	return sessionkey.Of(sender, session)
}

// Split returns what [Name] made a name of.
func Split(name string) (sender, session string) { return sessionkey.Split(name) }

// Key is where the record of a name is stored, below a prefix.
func Key(name string) string {
	sum := sha256.Sum256([]byte(name))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// With returns the record with labels added by a hook now.
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

// MaxClaims is how many sessions one may say it is below; more mean nothing.
const MaxClaims = 16

// Claiming returns the record with the claim that its session is below a parent, and below
// the root of a tree; each may be empty. above is what is known of the parent.
func (r Record) Claiming(now time.Time, parent, root string, above Record) Record {
	for _, id := range [...]string{parent, root} {
		if id != "" && id != r.Session && !slices.Contains(r.Claims, id) && len(r.Claims) < MaxClaims {
			r.Claims = append(slices.Clone(r.Claims), id)
		}
	}
	if r.Root == "" && len(r.Claims) > 0 {
		r.Parent = r.Claims[0]
		r.Root = cmp.Or(above.Root, r.Claims[len(r.Claims)-1])
		r.Depth = max(above.Depth+1, len(r.Claims))
	}
	r.Time = now.UTC()
	return r
}

// HasClaim reports whether the record has a claim already, or has no room for it.
func (r Record) HasClaim(parent, root string) bool {
	has := func(id string) bool { return id == "" || id == r.Session || slices.Contains(r.Claims, id) }
	return has(parent) && has(root) || len(r.Claims) >= MaxClaims
}

// Without returns the record without labels, which a person removed now.
func (r Record) Without(now time.Time, labels ...string) Record {
	r.Labels, r.Cleared = maps.Clone(r.Labels), maps.Clone(r.Cleared)
	if r.Cleared == nil {
		r.Cleared = map[string]time.Time{}
	}
	for _, label := range labels {
		delete(r.Labels, label)
		r.Cleared[label] = now.UTC()
	}
	r.Time = now.UTC()
	return r
}

// has are the labels of the record in order.
func (r Record) has() []string { return slices.Sorted(maps.Keys(r.Labels)) }

// Append is the record as JSON.
func (r Record) Append() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the labels of a session: %w", err)
	}
	return text, nil
}

// Decode reads a record.
func Decode(text []byte) (r Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("decode the labels of a session: %w", err)
	}
	return r, nil
}
