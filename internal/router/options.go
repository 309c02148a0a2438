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
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Options configure a router. The zero value of each field is its default.
type Options struct {
	// Version of the program, for discovery; empty means 0.0.0.
	Version string
	// Replicas of the buckets and streams, where they have to be made; 0 picks.
	Replicas int
	// MaxData is the largest event data, in bytes; 0 means 512 KiB.
	MaxData int
	// MaxReply is the largest reply of a hook, in bytes; 0 means 512 KiB.
	MaxReply int
	// MaxInFlight is how many requests of agents may be under way; 0 means 1024.
	MaxInFlight int
	// MaxPerSession is the same for one session; 0 means 64.
	MaxPerSession int
	// MaxPerAgent is the same for one agent, where connections prove who sends; 0 means 256.
	MaxPerAgent int
	// ChainTimeout bounds a chain, and is the most an agent may ask for; 0 means 30 s.
	ChainTimeout time.Duration
	// CollectTimeout bounds a collect that names no time; 0 means 1 s.
	CollectTimeout time.Duration
	// DrainTimeout bounds how long Run waits for requests that were taken; 0 means 30 s.
	DrainTimeout time.Duration
	// PublishData is what watchers see of the data; empty means all.
	PublishData dispatch.PublishData
	// Injection bounds what hooks inject; 0 means the protocol's limits.
	Injection verdict.Limits
	// NoApprovals means that nobody can be asked: an ask_user denies at once.
	NoApprovals bool
	// MaxApprovals is how many approval requests may be open, and MaxApprovalsPerSession
	// in one session; 0 means 50,000 and 100.
	MaxApprovals, MaxApprovalsPerSession int
	// ConsoleURL is where the console is; each denial that an agent gets has the address of
	// its page there. Empty for none.
	ConsoleURL string
	// ReplayWindow is how long after a decision a permission is given again to the same
	// event; 0 means 5 min.
	ReplayWindow time.Duration
	// Rules decide approval requests before a person is asked; nil for none.
	Rules dispatch.Rules
	// People says who people are, and whose approval the questions of hooks take; nil for
	// nobody.
	People *people.People
	// Guards are the hooks that an operator pinned in a file, besides those that are pinned
	// by order; nil for none.
	Guards *pinned.Guards
	// UnknownEvents says what becomes of an event that is neither standard nor named by a
	// hook; empty means that it is allowed.
	UnknownEvents dispatch.UnknownEvents
	// ProvenOnly refuses answers of people that the connection does not authenticate.
	ProvenOnly bool
	// Notify is called for each approval request that this replica opened or decided; it
	// must not block. The context names the span. Nil for nobody.
	Notify func(context.Context, approval.Notice)
	// Audit says whether answers wait for their records; empty means that they do.
	Audit recorder.Mode
	// AuditTimeout is how long; 0 means 500 ms. Then the answer is an error.
	AuditTimeout time.Duration
	// AuditData says what of an event's data records hold; empty means the data with its
	// secrets masked, by AuditMask; nil masks the usual forms.
	AuditData recorder.Data
	AuditMask recorder.Masker
	// AuditKey signs the audit log; nil leaves it without checkpoints.
	AuditKey *signer.Key
	// Accounts takes what the NATS server says of a request from another account as
	// who sent it. Only where agents and approvers are in accounts of their own.
	Accounts bool
	// Identities tells who sends, and what workers may do; nil for nobody and everything.
	Identities *identity.File
	// ServerKey proves to clients that this router runs their NATS server; nil where it
	// doesn't.
	ServerKey nkeys.KeyPair
	// Telemetry counts and traces; nil for nothing.
	Telemetry *telemetry.Telemetry
	// ForwardBaggage passes the W3C baggage of a request on to hooks. It may hold
	// anything that the agent's program put there.
	ForwardBaggage bool
	// LabelMemory is how long what a session of a proven sender has seen holds for all
	// sessions of that sender; 0 means an hour, less than 0 not at all.
	LabelMemory time.Duration
	// TTL and Lease are those of the registry; 0 means its defaults.
	TTL, Lease time.Duration
	// Log gets a line for each denial, refusal and approval at info or above, and for other
	// events at debug; nil discards it.
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

// payloadRoom is what headers and envelope of a message may need beside the data, in
// bytes; minTTL is the shortest time-to-live in which renewals arrive.
const (
	payloadRoom = 32 << 10
	minTTL      = 300 * time.Millisecond
)

// check rejects limits that can't work with the server's max_payload.
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

// dispatchOptions are those of them that dispatch needs.
func (o Options) dispatchOptions(guards dispatch.Guards) dispatch.Options {
	return dispatch.Options{
		MaxData: o.MaxData, MaxPerSession: o.MaxPerSession, MaxPerAgent: o.MaxPerAgent, ChainTimeout: o.ChainTimeout, CollectTimeout: o.CollectTimeout,
		PublishData: o.PublishData, Injection: o.Injection, NoApprovals: o.NoApprovals, ReplayWindow: o.ReplayWindow, ConsoleURL: o.ConsoleURL, Rules: o.Rules, Approvers: o.People, Guards: guards, Workers: o.Identities, UnknownEvents: o.UnknownEvents, Notify: o.Notify, Log: o.Log,
	}
}
