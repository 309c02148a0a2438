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

// Time is an instant in the form of the wire protocol: RFC 3339 in UTC with milliseconds. The zero
// Time is the zero [time.Time].
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At returns t, rounded down to milliseconds.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// String returns the time in the form of the wire protocol.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// MarshalText returns the text of [Time.String].
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON returns the text of [Time.String] as a JSON string.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalText parses any RFC 3339 time, and rounds it as [At] does.
func (t *Time) UnmarshalText(text []byte) error {
	var read time.Time
	if err := read.UnmarshalText(text); err != nil {
		return err
	}
	*t = At(read)
	return nil
}

// UnmarshalJSON parses a JSON string as UnmarshalText does; null changes nothing.
func (t *Time) UnmarshalJSON(text []byte) error {
	read := t.Time
	if err := read.UnmarshalJSON(text); err != nil {
		return err
	}
	*t = At(read)
	return nil
}

// Request is an approval request as listed by hooks.approvals and published with approval:required.
type Request struct {
	ID      string   `json:"id"`
	Session string   `json:"session_id"`
	Event   string   `json:"event"`
	Hook    string   `json:"hook"` // the hook's name
	Prompt  string   `json:"prompt"`
	Options []string `json:"options"`
	// Default applies if nobody answers: "deny" or "allow".
	Default string `json:"default"`
	Created Time   `json:"created"`
	Expires Time   `json:"expires"`
	// DataSHA256 is the hex SHA-256 of the data to approve, byte for byte as the hooks left it.
	DataSHA256 string `json:"data_sha256"`
	// Needs says whose approval the request needs; nil accepts anyone who may answer.
	Needs *chain.Approval `json:"needs,omitempty"`
	// Reviews are the answers that did not end the request, oldest first.
	Reviews []Review `json:"reviews,omitempty"`
	// Progress describes for people how far [Request.Needs] is met; empty if that is nil.
	Progress string `json:"progress,omitempty"`
}

// Record is an approval request with all details.
type Record struct {
	Request
	EventID  string `json:"event_id"`
	ChainID  string `json:"chain_id"`
	HookID   string `json:"hook_id"`
	Agent    string `json:"agent"`               // the CloudEvents source, as claimed by the agent
	Emitter  string `json:"emitter,omitempty"`   // the proven sender of the event
	ToolName string `json:"tool_name,omitempty"` // of the data
	Reason   string `json:"reason,omitempty"`    // the hook's reason
	// Data is the data to approve. The router may be configured to redact it; its digest is then
	// not [Request.DataSHA256].
	Data json.RawMessage `json:"data,omitempty"`
	// Changes is a JSON Patch (RFC 6902) from the emitted data to Data. Operations that remove
	// or replace carry the former value as "old".
	Changes json.RawMessage `json:"changes,omitempty"`
	// ShadowRule is the shadow rule that would have answered when the request was made, and
	// ShadowDecision its answer, "allow" or "deny". Both are empty if there is none.
	ShadowRule     string `json:"shadow_rule,omitempty"`
	ShadowDecision string `json:"shadow_decision,omitempty"`
	// Labels are the session's labels when the request was made.
	Labels []string `json:"labels,omitempty"`
	// Scopes are the scopes that the reader may give an "Allow always", the default first; empty if
	// only the default applies.
	Scopes []string `json:"scopes,omitempty"`
	*Decision
}

// Decision ends an approval request. A request has only one.
type Decision struct {
	Option    string `json:"option,omitempty"` // as offered, or free text; empty if nobody chose
	Granted   bool   `json:"granted"`
	DecidedBy string `json:"decided_by"`           // the proven identity, or "unauthenticated", "timeout", "rule NAME"
	ClaimedBy string `json:"claimed_by,omitempty"` // the name that the answer claims
	Note      string `json:"note,omitempty"`
	Decided   Time   `json:"decided"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Error     string `json:"error,omitempty"` // of a failed approval system
	// ApprovedBy are the proven identities that allowed, if several people had to.
	ApprovedBy []string `json:"approved_by,omitempty"`
	// Scope is the scope of an "Allow always" beyond its session, [ScopeLineage] or [ScopeAgent];
	// empty for the session.
	Scope string `json:"scope,omitempty"`
	// GrantExpires is when an "Allow always" ends; zero if it ends with its session, or never.
	GrantExpires Time `json:"grant_expires,omitzero"`
}

// Ends reports whether the decision ends its request. It is false for the zero Decision.
func (d Decision) Ends() bool { return !d.Decided.IsZero() }

// Answer is an answer to an approval request, the body of hooks.approve.<id>.
type Answer struct {
	Option string `json:"option,omitempty"`
	By     string `json:"by,omitempty"`
	Note   string `json:"note,omitempty"`
	// DataSHA256, if set, must be that of the request. Otherwise the answer is rejected.
	DataSHA256 string `json:"data_sha256,omitempty"`
	// FreeText accepts an Option that the request does not offer.
	FreeText bool `json:"free_text,omitempty"`
	// Error reports that the approval system failed: the request's default applies.
	Error string `json:"error,omitempty"`
	// Pass leaves the decision to others, who see Note.
	Pass bool `json:"pass,omitempty"`
	// Scope is the scope of an "Allow always": [ScopeSession], [ScopeLineage] or [ScopeAgent];
	// empty for the session. The wider two need a proven sender.
	Scope string `json:"scope,omitempty"`
	// Expires is when an "Allow always" ends, at most [MaxGrant] from now. Zero means never, or
	// after MaxGrant in the wider scopes.
	Expires Time `json:"expires,omitzero"`
}

// Filter selects approval requests. The zero Filter selects all, oldest first.
type Filter struct {
	Session string `json:"session_id,omitempty"` // only of this session
	Limit   int    `json:"limit,omitempty"`      // maximum number; 0 means as many as fit into a message
	Newest  bool   `json:"newest,omitempty"`     // newest first; a limit then keeps the newest
	Room    int    `json:"-"`                    // maximum size of the requests as JSON, in bytes, for a service in this process; 0 means no limit
}

// Notice reports that an approval request was opened, reviewed or decided.
type Notice struct {
	Request  Request
	Decision *Decision // nil if the request was opened, or if it was reviewed and has reviews
	// Lost reports that earlier notices were dropped because the reader was slow. List the requests
	// again.
	Lost bool
	// Emitter is the proven sender of the event; empty if there is none or it is unknown: see
	// [Service.Get].
	Emitter string
}

// Service keeps approval requests and accepts answers. Its errors for rejected answers are those of
// [Decide]. It is safe for concurrent use.
type Service interface {
	// Pending returns the open requests, oldest first unless f says otherwise, and their total
	// number.
	Pending(ctx context.Context, f Filter) (list []Request, total int, err error)
	// Get returns an approval request with all details.
	Get(ctx context.Context, id string) (Record, error)
	// Answer answers an approval request for the proven identity who. If others must allow too, the
	// answer counts, but the returned decision does not end the request ([Decision.Ends]). An error
	// means that the answer was rejected.
	Answer(ctx context.Context, id string, a Answer, who string) (Decision, error)
	// Watch reports requests that are opened, reviewed or decided until stop is called, which
	// closes the channel.
	Watch() (notices <-chan Notice, stop func())
}

// IDOf returns the id of an event's first approval request. emitter is the proven sender, or "".
// However often and to whichever router the event is sent, it gets the same request, until that
// request ends as [Outdated].
func IDOf(emitter, session, event, eventID string) string {
	return idOf("hookrouter-approval-v1", emitter, session, event, eventID)
}

// IDAfter returns the id of the approval request that follows request id of the same event, if that
// one ended as [Outdated].
func IDAfter(id string) string { return idOf("hookrouter-approval-after-v1", id) }

func idOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(part))
		sum.Write([]byte{0}) // ids and names can't contain it
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil)[:16]))
}

// Digest returns the SHA-256 of data in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
