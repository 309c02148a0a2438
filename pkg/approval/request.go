package approval

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Time is an instant as the wire protocol writes it: RFC 3339 in UTC with
// milliseconds. The zero Time is the zero [time.Time].
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At is t, rounded down to milliseconds.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// String is the time as the wire protocol writes it.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// MarshalText writes what String does.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes what String does, in quotes.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalText reads any RFC 3339 time and keeps it as [At] does.
func (t *Time) UnmarshalText(text []byte) error {
	var read time.Time
	if err := read.UnmarshalText(text); err != nil {
		return err
	}
	*t = At(read)
	return nil
}

// UnmarshalJSON reads what UnmarshalText does, in quotes; null changes nothing.
func (t *Time) UnmarshalJSON(text []byte) error {
	read := t.Time
	if err := read.UnmarshalJSON(text); err != nil {
		return err
	}
	*t = At(read)
	return nil
}

// Request is an approval request in lists: an entry of hooks.approvals, and the data of
// approval:required.
type Request struct {
	ID      string   `json:"id"`
	Session string   `json:"session_id"`
	Event   string   `json:"event"`
	Hook    string   `json:"hook"` // the hook's name
	Prompt  string   `json:"prompt"`
	Options []string `json:"options"`
	// Default applies when nobody answers: "deny" or "allow".
	Default string `json:"default"`
	Created Time   `json:"created"`
	Expires Time   `json:"expires"`
	// DataSHA256 is the digest, in hex, of the data in question: what the hooks made of it, byte
	// for byte.
	DataSHA256 string `json:"data_sha256"`
	// Needs says whose approval the request needs; nil means anyone who may answer.
	Needs *chain.Approval `json:"needs,omitempty"`
	// Reviews are the answers that did not end the request, oldest first.
	Reviews []Review `json:"reviews,omitempty"`
	// Progress tells people how far [Request.Needs] is met; empty if that is nil.
	Progress string `json:"progress,omitempty"`
}

// Record is an approval request in full.
type Record struct {
	Request
	EventID  string `json:"event_id"`
	ChainID  string `json:"chain_id"`
	HookID   string `json:"hook_id"`
	Agent    string `json:"agent"`               // the CloudEvents source, as the agent claims
	Emitter  string `json:"emitter,omitempty"`   // the proven sender of the event
	ToolName string `json:"tool_name,omitempty"` // of the data
	Reason   string `json:"reason,omitempty"`    // the hook's
	// Data is the data in question. It is redacted if the router is configured so; then its
	// digest is not [Request.DataSHA256].
	Data json.RawMessage `json:"data,omitempty"`
	// Changes is a JSON Patch (RFC 6902) from the emitted data to Data. Operations that remove
	// or replace carry the former value as "old".
	Changes json.RawMessage `json:"changes,omitempty"`
	// ShadowRule is the shadow rule that would have answered when the request was made, and
	// ShadowDecision its answer: "allow" or "deny". Empty for none.
	ShadowRule     string `json:"shadow_rule,omitempty"`
	ShadowDecision string `json:"shadow_decision,omitempty"`
	// Labels are those of the session when the request was made.
	Labels []string `json:"labels,omitempty"`
	// Scopes are the scopes that the reader's "Allow always" may have, the default first; empty
	// if only the default applies.
	Scopes []string `json:"scopes,omitempty"`
	*Decision
}

// Decision ends an approval request. Each request has only one.
type Decision struct {
	Option    string `json:"option,omitempty"` // as offered, or the given free text; empty if nobody chose
	Granted   bool   `json:"granted"`
	DecidedBy string `json:"decided_by"`           // the proven identity, or "unauthenticated", "timeout", "rule NAME"
	ClaimedBy string `json:"claimed_by,omitempty"` // what the answer claims
	Note      string `json:"note,omitempty"`
	Decided   Time   `json:"decided"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Error     string `json:"error,omitempty"` // of an approval system that failed
	// ApprovedBy are the proven identities that allowed, if several had to.
	ApprovedBy []string `json:"approved_by,omitempty"`
	// Scope is what an "Allow always" covers beyond its session, [ScopeLineage] or [ScopeAgent];
	// empty for the session.
	Scope string `json:"scope,omitempty"`
	// GrantExpires is when an "Allow always" ends; zero for never, or with its session.
	GrantExpires Time `json:"grant_expires,omitzero"`
}

// Ends reports whether the approval request is decided. The zero Decision ends nothing.
func (d Decision) Ends() bool { return !d.Decided.IsZero() }

// Answer is an answer to an approval request: the body of hooks.approve.<id>.
type Answer struct {
	Option string `json:"option,omitempty"`
	By     string `json:"by,omitempty"`
	Note   string `json:"note,omitempty"`
	// DataSHA256, if set, must be the request's: an answer about other data is rejected.
	DataSHA256 string `json:"data_sha256,omitempty"`
	// FreeText lets an option decide that was not offered.
	FreeText bool `json:"free_text,omitempty"`
	// Error says that the approval system failed: the default applies.
	Error string `json:"error,omitempty"`
	// Pass leaves the decision to others, who see the note.
	Pass bool `json:"pass,omitempty"`
	// Scope is what an "Allow always" covers: [ScopeSession], [ScopeLineage] or [ScopeAgent];
	// empty for the session. The last two need a proven sender.
	Scope string `json:"scope,omitempty"`
	// Expires is when an "Allow always" ends, at most [MaxGrant] ahead; zero for never, or for
	// MaxGrant in the wider scopes.
	Expires Time `json:"expires,omitzero"`
}

// Filter selects approval requests. The zero Filter lists all.
type Filter struct {
	Session string `json:"session_id,omitempty"` // only of this session
	Limit   int    `json:"limit,omitempty"`      // maximum number; 0 means as many as fit into a message
	Newest  bool   `json:"newest,omitempty"`     // newest first, and with a limit the newest; false means oldest first
	Room    int    `json:"-"`                    // maximum bytes of the requests as JSON, for a service in this process; 0 for no bound
}

// Notice reports an approval request that was opened, reviewed or decided.
type Notice struct {
	Request  Request
	Decision *Decision // nil if the request was opened, or reviewed if it has reviews
	// Lost says that earlier notices were dropped because the reader was slow: list again.
	Lost bool
	// Emitter is the proven sender of the event; empty if there is none, or where it is not known:
	// see [Service.Get].
	Emitter string
}

// Service keeps approval requests and accepts answers. Its errors say what was wrong with an
// answer; see [Decide]. It is safe for concurrent use.
type Service interface {
	// Pending returns the open requests, oldest first unless f says otherwise, and their total.
	Pending(ctx context.Context, f Filter) (list []Request, total int, err error)
	// Get returns an approval request in full.
	Get(ctx context.Context, id string) (Record, error)
	// Answer answers an approval request for the proven identity who. If others must allow too,
	// the answer counts but its decision does not end the request ([Decision.Ends]). An error
	// means that the answer was rejected.
	Answer(ctx context.Context, id string, a Answer, who string) (Decision, error)
	// Watch reports requests that are opened, reviewed and decided until stop is called, which
	// closes the channel.
	Watch() (notices <-chan Notice, stop func())
}

// IDOf is the id of an event's first approval request. emitter is the proven sender, or "". The
// same event has the same request, however often and to whichever router it is sent, until that
// one ends as [Outdated].
func IDOf(emitter, session, event, eventID string) string {
	return idOf("hookrouter-approval-v1", emitter, session, event, eventID)
}

// IDAfter is the id of the approval request that follows one of the same event, which ended as
// [Outdated].
func IDAfter(id string) string { return idOf("hookrouter-approval-after-v1", id) }

func idOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(part))
		sum.Write([]byte{0}) // can't stand in an id or a name
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)[:16]))
}

// Digest is the SHA-256 of data in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
