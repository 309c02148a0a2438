package dispatch

import (
	"context"
	"encoding/json"
	"errors"
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

// Hooks knows the registered hooks.
type Hooks interface {
	// Table returns the hook table, or an error with code 503 if this replica's table is stale.
	Table() (*chain.Table, error)
}

// Freezes knows what operators froze.
type Freezes interface {
	// Frozen returns the order that covers an agent's event, nil for none, or an error with code
	// 503 if this replica can't know.
	Frozen(agent, session string) (*freeze.Order, error)
	// Freezes returns the orders in force, or an error with code 503 if this replica can't know.
	Freezes() ([]freeze.Order, error)
	// Freeze puts an order into force. After it returns, no replica permits anything against it.
	Freeze(context.Context, freeze.Order) error
	// Thaw lifts the order of the same scope and reports whether there was one.
	Thaw(context.Context, freeze.Order) (thawed bool, err error)
}

// Transport carries messages about events to hooks and watchers.
type Transport interface {
	// Open returns the channel for the messages about one event.
	Open(Envelope) Channel
}

// Envelope is what every message about an event carries besides its data.
type Envelope struct {
	Event                   events.Event // its attributes; the data is not read
	ChainID                 string
	Traceparent, Tracestate string // W3C trace context, empty for none
	Baggage                 string // W3C baggage, empty for none
}

// ErrConnection means that this router could not reach any hook. It does not count as a failure of
// a hook: nothing is decided, whatever on_failure says, and the agent gets 503.
var ErrConnection = errors.New("the router has lost its connection to NATS")

// ErrCallTooLarge means that NATS rejected the call of a hook for its size. It does not count as a
// failure of the hook either: nothing is decided, and the agent gets 413.
var ErrCallTooLarge = errors.New("the call to a hook exceeds the NATS server's max_payload: send less data, or raise max_payload")

// Channel sends the messages about one event. It must be safe for concurrent use.
type Channel interface {
	// PublishEvent tells watchers that the event was admitted.
	PublishEvent(data []byte) error
	// PublishResult tells watchers how its chain ended.
	PublishResult(body []byte) error
	// Call calls a hook and returns its reply. It returns by the deadline of its context, even if
	// the context is not canceled by then. The error may wrap [chain.ErrNoResponder],
	// [chain.ErrInvalidResult], [context.DeadlineExceeded], [ErrConnection] or [ErrCallTooLarge].
	Call(context.Context, Call) (Reply, error)
	// Notify sends the event to an observing hook. No reply is expected.
	Notify(Call) error
}

// Call is one message to a hook.
type Call struct {
	Hook        string // its id
	Mode        chain.Mode
	Data        []byte
	Timeout     time.Duration // how long to wait for the reply; 0 for none
	Traceparent string        // of this call; empty means the event's
	Labels      string        // labels of the session at this point of the chain, joined by ","
	Echoed      bool          // drop replies that do not repeat the call's id
}

// Reply is what a hook answered.
type Reply struct {
	Body []byte
	Rule string // the rule that decided, if the worker says so
	// Policy is the version of the policy that the worker applied. It may be set with an error,
	// too.
	Policy string
}

// Sessions holds the state of sessions, shared by all replicas. sessionkey.Of names a session.
type Sessions interface {
	// Begin starts a turn if the event begins one. late reports whether late injections wait for
	// it.
	Begin(ctx context.Context, session, event string) (late bool, err error)
	// Keep stores an injection for the session's next turn. since is when its event was
	// admitted; kept is false if the session has ended since.
	Keep(ctx context.Context, session string, since time.Time, text chain.ContextInjection) (kept bool, err error)
	// Limit lowers the session's injection limits.
	Limit(ctx context.Context, session string, limits verdict.Limits) error
	// End forgets the session.
	End(ctx context.Context, session string) error
	// Used returns the tokens that the turn has used, as far as this replica has seen.
	Used(session string) int
	// Spend charges a verdict's injections to the turn. It calls compose again if another
	// replica wrote first. taker is the id of the event that takes the late injections; empty to
	// leave them.
	Spend(ctx context.Context, session, event, taker string, compose func(lowered verdict.Limits, used int, late []chain.ContextInjection) verdict.Verdict) (verdict.Verdict, error)
	// Revoke revokes grants: all, or those of a hook, or of a hook and prompt. A name without a
	// sender means the sessions with that id of all senders.
	Revoke(ctx context.Context, session, hook, prompt string) (revoked int, err error)
	// RevokeGrant revokes what an approval granted beyond its session, and returns the hook's
	// name, the prompt and the session. ok is false if there is no such grant.
	RevokeGrant(ctx context.Context, approvalID string) (hook, prompt, session string, ok bool, err error)
	// Epoch counts how often the session ended or its approvals were revoked.
	Epoch(ctx context.Context, session string) (int, error)
	// Past reports whether the session ended, or its approvals were revoked, since a person was
	// asked.
	Past(context.Context, *held.Event) (bool, error)
	// Granted returns the approval that already answers a request of its session, and who gave
	// it; approvalID is empty if there is none.
	Granted(ctx context.Context, s *held.Event) (approvalID, by string, err error)
}

// Approvals holds the approval requests, shared by all replicas.
type Approvals interface {
	// Empty reports whether this replica knows no request at all.
	Empty() bool
	// CheckData rejects an event whose request was about other data. It reads no store.
	CheckData(id, eventID string, digest func() string) error
	// Find returns the approval request of an event, nil for none.
	Find(ctx context.Context, id, eventID, digest string) (*held.Event, error)
	// Load returns a request by its id. The error has code 404 if there is none.
	Load(ctx context.Context, id string) (*held.Event, error)
	// Ask stores a request. asked is false if the event has one already.
	Ask(context.Context, *held.Event) (stored *held.Event, asked bool, err error)
	// Decide makes a decision the only one of its request.
	Decide(ctx context.Context, s *held.Event, d approval.Decision, nonce string) (approval.Decision, error)
	// Decision returns the recorded decision on a request, nil for none.
	Decision(context.Context, *held.Event) (*approval.Decision, error)
	// Await calls done once: with the decision, or with nil at the time until. It does not
	// block, and done must not block.
	Await(s *held.Event, until time.Time, done func(*held.Event, *approval.Decision))
	// Now is the time by which deadlines are set and checked, on every replica.
	Now() time.Time
	// Masked returns a request as watchers may see it.
	Masked(approval.Request) approval.Request
}

// Journal is the audit log.
type Journal interface {
	// Enabled reports whether the router keeps an audit log.
	Enabled() bool
	// Record writes records. In strict mode it waits until the log has them. Without an audit log
	// it does nothing.
	Record(ctx context.Context, lines []byte) error
	// Note writes records without waiting, or does nothing without an audit log.
	Note(lines []byte)
}

// View renders an event's data for records: as a digest, masked or whole.
type View interface {
	Of(session string, raw []byte) *audit.Data
	TextOf(session, text string) *audit.Data
	Text(text string) string
	Changes(patch []byte) json.RawMessage
	// Masked masks the secrets of a text for log lines, whatever records contain.
	Masked(text string) string
	// DigestOnly reports whether records hold digests only.
	DigestOnly() bool
}

// Observer counts and traces what happens. Nothing waits for it.
type Observer interface {
	// Begin returns the trace of an event; nil without tracing.
	Begin(telemetry.Sender) *telemetry.Trace
	// Chain is called once for each admitted event, after its answer was sent.
	Chain(*telemetry.Trace, *telemetry.Chain)
	// Gathered is Chain for the contributions to a channel, which no agent emitted.
	Gathered(*telemetry.Trace, *telemetry.Chain)
	// Unawaited is called for each answer of a hook in mode shadow or async; failed if it gave
	// none.
	Unawaited(tr *telemetry.Trace, call telemetry.Answer, action chain.Action, failed bool)
	// UnawaitedDropped is called for each such call over the limit.
	UnawaitedDropped(hook string)
	// Asked is called when an approval request is opened. The returned context names its span.
	Asked(telemetry.Approval) context.Context
	// Decided is called for each decision that this replica made; kind says who decided.
	Decided(ctx context.Context, kind string, a telemetry.Approval) context.Context
	// Granted is called when an earlier "Allow always" answered.
	Granted()
}
