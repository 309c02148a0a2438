package dispatch

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Hooks knows the hooks in force.
type Hooks interface {
	// Table returns them, or an error with code 503 where this replica can't know them.
	Table() (*chain.Table, error)
}

// Freezes knows what operators froze.
type Freezes interface {
	// Frozen returns the order that an event of an agent falls under, nil for none, or an
	// error with code 503 where this replica can't know.
	Frozen(agent, session string) (*freeze.Order, error)
	// Freeze puts an order into force. It returns when no replica permits anything against
	// it any more.
	Freeze(context.Context, freeze.Order) error
	// Thaw lifts the order of the same scope and reports whether there was one.
	Thaw(context.Context, freeze.Order) (thawed bool, err error)
}

// Transport carries messages about events to hooks and watchers.
type Transport interface {
	// Open returns what sends the messages about one event.
	Open(Envelope) Channel
}

// Envelope is what every message about an event carries beside its data.
type Envelope struct {
	Event                   events.Event // its attributes; the data is not read
	ChainID                 string
	Traceparent, Tracestate string // W3C trace context, empty for none
	Baggage                 string // W3C baggage, empty for none
}

// Channel sends the messages about one event. It must be safe for concurrent use.
type Channel interface {
	// PublishEvent tells watchers that the event was admitted.
	PublishEvent(data []byte) error
	// PublishResult tells watchers how its chain ended.
	PublishResult(body []byte) error
	// Call calls a hook and returns its reply. The error wraps [chain.ErrNoResponder],
	// [chain.ErrInvalidResult] or [context.DeadlineExceeded] where it is one of those.
	Call(context.Context, Call) (Reply, error)
	// Notify sends the event to a hook that observes. Nobody replies.
	Notify(Call) error
}

// Call is one message to a hook.
type Call struct {
	Hook        string // its id
	Mode        chain.Mode
	Data        []byte
	Timeout     time.Duration // how long the reply is waited for; 0 where there is none
	Traceparent string        // of this call; empty for that of the event
	Labels      string        // what the session has seen at this place of the chain, joined by ","; empty for nothing
	Echoed      bool          // take no reply that does not repeat the id of the call
}

// Reply is what a hook answered.
type Reply struct {
	Body []byte
	Rule string // the rule that decided, as the worker says; empty where it does not
	// Policy is the version of the policy that it answered by, as the worker says; with an
	// error too.
	Policy string
}

// Sessions is the state of sessions that all replicas share. A session is named as
// sessionkey.Of does.
type Sessions interface {
	// Begin starts a turn, as the event means it. late says whether injections wait for it.
	Begin(ctx context.Context, session, event string) (late bool, err error)
	// Keep keeps an injection whose event was admitted at since for the session's next turn;
	// kept is false where the session ended meanwhile.
	Keep(ctx context.Context, session string, since time.Time, text chain.ContextInjection) (kept bool, err error)
	// Limit lowers the session's injection limits.
	Limit(ctx context.Context, session string, limits verdict.Limits) error
	// End forgets the session.
	End(ctx context.Context, session string) error
	// Used is how many tokens the turn has used, as far as this replica has seen.
	Used(session string) int
	// Spend charges what a verdict injects to the turn. compose is called again where
	// another replica was first. taker is the id of an event that takes what waits for the
	// turn; empty for one that leaves it.
	Spend(ctx context.Context, session, event, taker string, compose func(lowered verdict.Limits, used int, late []chain.ContextInjection) verdict.Verdict) (verdict.Verdict, error)
	// Revoke takes grants back: all, or those of a hook, or of a hook and prompt; of every
	// sender's session with an id, where the name has no sender.
	Revoke(ctx context.Context, session, hook, prompt string) (revoked int, err error)
	// RevokeGrant takes back what an approval granted beyond its session, and returns the
	// hook's name, the prompt and the session; ok is false where there is no such grant.
	RevokeGrant(ctx context.Context, approvalID string) (hook, prompt, session string, ok bool, err error)
	// Epoch counts how often the session ended or its approvals were revoked.
	Epoch(ctx context.Context, session string) (int, error)
	// Granted returns the approval that answers a request of its session, and who gave it;
	// approvalID is empty where there is none.
	Granted(ctx context.Context, s *held.Event) (approvalID, by string, err error)
}

// Approvals holds the approval requests that all replicas share.
type Approvals interface {
	// Empty reports whether this replica knows no request at all.
	Empty() bool
	// CheckData refuses an event whose request was about other data. It reads no store.
	CheckData(id, eventID string, digest func() string) error
	// Find returns the request of an event, nil where it has none.
	Find(ctx context.Context, id, eventID, digest string) (*held.Event, error)
	// Load returns the request with an id. The error has code 404 where there is none.
	Load(ctx context.Context, id string) (*held.Event, error)
	// Ask stores a request, unless the event has one; asked is false then.
	Ask(context.Context, *held.Event) (stored *held.Event, asked bool, err error)
	// Decide makes a decision the request's only one.
	Decide(ctx context.Context, s *held.Event, d approval.Decision, nonce string) (approval.Decision, error)
	// Decision is the decision on a request as the log has it, nil for none.
	Decision(context.Context, *held.Event) (*approval.Decision, error)
	// Await calls done once: with the decision, or with nil when until has come. It does
	// not block, and done must not.
	Await(s *held.Event, until time.Time, done func(*held.Event, *approval.Decision))
	// Masked is a request as watchers may see it.
	Masked(approval.Request) approval.Request
}

// Journal is the audit log.
type Journal interface {
	// Enabled reports whether records are kept at all.
	Enabled() bool
	// Record writes records and waits until the log has them, in strict mode.
	Record(ctx context.Context, lines []byte) error
	// Note writes records that nobody waits for.
	Note(lines []byte)
}

// View is how an event's data stands in records: digests, masked or whole.
type View interface {
	Of(session string, raw []byte) *audit.Data
	TextOf(session, text string) *audit.Data
	Text(text string) string
	Changes(patch []byte) json.RawMessage
	// Masked masks the secrets of a text, whatever records hold: for log lines.
	Masked(text string) string
	// DigestOnly reports whether records hold digests alone.
	DigestOnly() bool
}

// Observer counts and traces what happens. Nothing waits for it.
type Observer interface {
	// Begin says in which trace an event belongs; nil where nothing is traced.
	Begin(telemetry.Sender) *telemetry.Trace
	// Chain is called once for each event that was admitted, after its answer was sent.
	Chain(*telemetry.Trace, *telemetry.Chain)
	// Gathered is Chain for the contributions to a channel, which are nobody's event.
	Gathered(*telemetry.Trace, *telemetry.Chain)
	// Shadow is called for each answer of a hook in mode shadow or async; failed where it gave none.
	Shadow(tr *telemetry.Trace, call telemetry.Answer, action chain.Action, failed bool)
	// ShadowDropped is called for each such call over the limit.
	ShadowDropped(hook string)
	// Asked is called when an approval request was opened. The context that is returned
	// names its span.
	Asked(telemetry.Approval) context.Context
	// Decided is the same for a decision that was made here; kind says by whom.
	Decided(ctx context.Context, kind string, a telemetry.Approval) context.Context
	// Granted is called when an earlier "Allow always" answered.
	Granted()
}
