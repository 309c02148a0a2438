package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Options configure a router. The zero value of each field is its default.
type Options struct {
	// Version of the program, for discovery; empty means 0.0.0.
	Version string
	// Replicas of new buckets and streams; 0 picks.
	Replicas int
	// MaxData is the largest event data, in bytes; 0 means 512 KiB.
	MaxData int
	// MaxReply is the largest reply of a hook, in bytes; 0 means 512 KiB.
	MaxReply int
	// MaxInFlight bounds the agents' requests in flight; 0 means 1024.
	MaxInFlight int
	// MaxPerSession is the same bound for one session; 0 means 64.
	MaxPerSession int
	// MaxPerAgent is the same bound for one proven agent; 0 means 256.
	MaxPerAgent int
	// Flooded is called when a sender floods the router, with its NATS account; empty if that is
	// unknown. It must not block. Nil for nothing.
	Flooded func(account string)
	// Listens reports whether anybody listens on a NATS subject, so that a killed worker is not
	// listed as alive. Nil if another process runs the NATS server. It must not block.
	Listens func(subject string) bool
	// ChainTimeout bounds a chain. Agents may ask for less; 0 means 30 s.
	ChainTimeout time.Duration
	// CollectTimeout bounds a collect that sets no time-out; 0 means 1 s.
	CollectTimeout time.Duration
	// DrainTimeout bounds how long Run waits for requests that it took; 0 means 30 s.
	DrainTimeout time.Duration
	// PublishData is what watchers see of the data; empty means all.
	PublishData dispatch.PublishData
	// Injection bounds what hooks inject; 0 means the protocol's limits.
	Injection verdict.Limits
	// NoApprovals means that no person can be asked: an ask_user denies at once.
	NoApprovals bool
	// MaxApprovals bounds the open approval requests, and MaxApprovalsPerSession those of one
	// session; 0 means 50,000 and 100.
	MaxApprovals, MaxApprovalsPerSession int
	// ConsoleURL is the address of the console. Each denial carries the address of the page that
	// explains it; empty for none.
	ConsoleURL string
	// ReplayWindow is how long a granted event may be repeated and permitted again; 0 means 5
	// min.
	ReplayWindow time.Duration
	// Rules decide approval requests before a person is asked; nil for none.
	Rules dispatch.Rules
	// People knows the approvers and which approvals hooks' questions need; nil for none.
	People *people.People
	// Guards are the hooks that an operator pinned in a file, besides those pinned by order; nil
	// for none.
	Guards *pinned.Guards
	// UnknownEvents says how to treat an event that is neither standard nor named by a hook;
	// empty allows it.
	UnknownEvents dispatch.UnknownEvents
	// ProvenOnly refuses answers of people whom the connection does not authenticate.
	ProvenOnly bool
	// Notify is called for each approval request that this replica opened or decided. It must
	// not block. Its context names the span. Nil for none.
	Notify func(context.Context, approval.Notice)
	// Audit says whether answers wait for their records; empty means that they do.
	Audit recorder.Mode
	// AuditTimeout bounds that wait; 0 means 500 ms. After it the answer is an error.
	AuditTimeout time.Duration
	// AuditData selects what records hold of an event's data; empty means the data with its
	// secrets masked by AuditMask, which defaults to the usual rules.
	AuditData recorder.Data
	AuditMask redact.Masker
	// ApprovalMask masks approval requests for people; nil means the usual rules, which leave
	// every command visible.
	ApprovalMask redact.Masker
	// AuditKey signs the audit log; nil means no checkpoints.
	AuditKey *signer.Key
	// SignInterval is how often new records are signed; 0 means a second.
	SignInterval time.Duration
	// Requests is the connection on which requests come; nil means that of the router. With one
	// of its own, a flood of requests delays neither records nor leases nor calls of hooks.
	Requests *natsx.Conn
	// Accounts trusts the NATS server's word on who sent a request from another account. Use it
	// only if agents and approvers have accounts of their own.
	Accounts bool
	// Identities knows who sends and what workers may do; nil for nobody and everything.
	Identities *identity.File
	// ServerKey proves to clients that this router runs their NATS server; nil if it doesn't.
	ServerKey nkeys.KeyPair
	// Telemetry counts and traces; nil for nothing.
	Telemetry *telemetry.Telemetry
	// ForwardBaggage passes the W3C baggage of a request on to hooks. It may hold anything that
	// the agent's program put there.
	ForwardBaggage bool
	// LabelMemory is how long a label of one session holds for all sessions of the same proven
	// sender; 0 means an hour, a negative value disables it.
	LabelMemory time.Duration
	// TTL and Lease are those of the registry; 0 means its defaults.
	TTL, Lease time.Duration
	// Log gets denials, refusals and approvals at info or above, and other events at debug; nil
	// discards them.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Version = cmp.Or(o.Version, "0.0.0")
	o.MaxData = cmp.Or(o.MaxData, 512<<10)
	o.MaxReply = cmp.Or(o.MaxReply, 512<<10)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, 1024)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, 30*time.Second)
	o.Audit = cmp.Or(o.Audit, recorder.Strict)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// payloadRoom is the room in bytes for a message's headers and envelope besides the data. minTTL
// is the shortest time-to-live in which renewals arrive.
const (
	payloadRoom = 32 << 10
	minTTL      = 300 * time.Millisecond
)

// check rejects limits that don't fit the server's max_payload.
func (o Options) check(maxPayload int64) error {
	switch {
	case o.MaxData < 0 || o.MaxReply < 0 || o.MaxInFlight < 0 || o.MaxPerSession < 0 || o.ChainTimeout < 0 || o.DrainTimeout < 0:
		return errors.New("limits of the router must not be negative")
	case int64(o.MaxData)+payloadRoom > maxPayload:
		return fmt.Errorf("data of %d bytes with its headers does not fit the NATS server's max_payload of %d: "+
			"set --max-data to at most %d, or raise max_payload", o.MaxData, maxPayload, maxPayload-payloadRoom)
	case int64(o.MaxReply)+payloadRoom > maxPayload:
		return fmt.Errorf("a hook's reply of %d bytes, passed on to the next hook, does not fit the NATS server's max_payload of %d: "+
			"set --max-reply to at most %d, or raise max_payload", o.MaxReply, maxPayload, maxPayload-payloadRoom)
	case o.TTL != 0 && o.TTL < minTTL:
		return fmt.Errorf("a time-to-live of %v is too short for renewals to arrive: set --ttl to at least %v", o.TTL, minTTL)
	}
	switch o.PublishData {
	case "", dispatch.PublishFull, dispatch.PublishRedacted, dispatch.PublishNone:
		return nil
	}
	return fmt.Errorf(`publish-data is %q: "full", "redacted" or "none"`, o.PublishData)
}

// dispatchOptions returns the options of the dispatcher.
func (o Options) dispatchOptions(guards dispatch.Guards) dispatch.Options {
	return dispatch.Options{
		MaxData: o.MaxData, MaxPerSession: o.MaxPerSession, MaxPerAgent: o.MaxPerAgent, ChainTimeout: o.ChainTimeout, CollectTimeout: o.CollectTimeout,
		PublishData: o.PublishData, Injection: o.Injection, NoApprovals: o.NoApprovals, ReplayWindow: o.ReplayWindow, ConsoleURL: o.ConsoleURL,
		Rules: o.Rules, Approvers: o.People, Guards: guards, Workers: o.Identities, UnknownEvents: o.UnknownEvents, Notify: o.Notify, Log: o.Log,
	}
}
