package router

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/telemetry"
)

// Options configure a router. The zero value of each field is its default.
type Options struct {
	// Version is the version of the program, for discovery; empty means 0.0.0.
	Version string
	// Replicas is the number of replicas of new buckets and streams; 0 means the default of
	// [natsx.BucketOptions].
	Replicas int
	// MaxReply is the largest reply of a hook, in bytes; 0 means 512 KiB.
	MaxReply int
	// MaxInFlight bounds the agents' requests in flight; 0 means 1024.
	MaxInFlight int
	// DrainTimeout bounds how long Run waits for requests that it took; 0 means 30 s.
	DrainTimeout time.Duration
	// Dispatch configures how events are decided. The router sets its Approvers, Guards, Workers
	// and Log.
	Dispatch dispatch.Options
	// Approvals configures approval requests. The router sets its People, Sessions, Mask, MaskText and
	// Log.
	Approvals approvals.Options
	// Audit configures the audit log. The router sets its Replicas and Log, the ID and Wrote of
	// its Recorder, and Upgraded of its Signer.
	Audit auditlog.Options
	// Registry configures the registrations. The router sets its Replica, AuditFormat, Compile,
	// Record, Changed and Log.
	Registry registry.Options
	// Flooded is called when a sender floods the router, with its NATS account; empty if that is
	// unknown. It must not block. Nil means no callback.
	Flooded func(account string)
	// People knows the approvers and which approvals hooks' questions need; nil for none.
	People *people.People
	// Guards are the hooks that an operator pinned in a file, besides those pinned by order; nil
	// for none.
	Guards *pinned.Guards
	// ApprovalMask masks approval requests for people; nil means the default rules, which leave
	// every command visible.
	ApprovalMask redact.Masker
	// Requests is the connection on which requests arrive; nil means that of the router. With one
	// of its own, a flood of requests delays neither records nor leases nor calls of hooks.
	Requests *natsx.Conn
	// Accounts trusts the NATS server's word on who sent a request from another account. Use it
	// only if agents and approvers have accounts of their own.
	Accounts bool
	// Identities knows the senders, and what workers may do; nil means that senders are unknown and
	// workers may do everything.
	Identities *identity.File
	// ServerKey proves to clients that this router runs their NATS server; nil if it doesn't.
	ServerKey nkeys.KeyPair
	// Telemetry exports metrics and spans; nil means none.
	Telemetry *telemetry.Telemetry
	// ForwardBaggage passes the W3C baggage of a request on to hooks. It may contain anything that
	// the agent's program put there.
	ForwardBaggage bool
	// Log gets denials, refusals and approvals at info or above, and other events at debug; nil
	// discards them.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Version = cmp.Or(o.Version, "0.0.0")
	o.MaxReply = cmp.Or(o.MaxReply, 512<<10)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, 1024)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, 30*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Dispatch.Approvers, o.Dispatch.Workers, o.Dispatch.Log = o.People, o.Identities, o.Log
	o.Dispatch = o.Dispatch.WithDefaults()
	return o
}

// payloadRoom is the room in bytes for a message's headers and envelope besides the data. minTTL is
// the shortest time-to-live that leaves renewals time to arrive.
const (
	payloadRoom = 32 << 10
	minTTL      = 300 * time.Millisecond
)

// check rejects limits that don't fit the server's max_payload.
func (o Options) check(maxPayload int64) error {
	switch {
	case o.Dispatch.MaxData < 0 || o.MaxReply < 0 || o.MaxInFlight < 0 || o.Dispatch.MaxPerSession < 0 || o.Dispatch.ChainTimeout < 0 || o.DrainTimeout < 0:
		return errors.New("limits of the router must not be negative")
	case int64(o.Dispatch.MaxData)+payloadRoom > maxPayload:
		return fmt.Errorf("data of %d bytes with its headers does not fit the NATS server's max_payload of %d: "+
			"set --max-data to at most %d, or raise max_payload", o.Dispatch.MaxData, maxPayload, maxPayload-payloadRoom)
	case int64(o.MaxReply)+payloadRoom > maxPayload:
		return fmt.Errorf("a hook's reply of %d bytes, passed on to the next hook, does not fit the NATS server's max_payload of %d: "+
			"set --max-reply to at most %d, or raise max_payload", o.MaxReply, maxPayload, maxPayload-payloadRoom)
	case o.Registry.TTL != 0 && o.Registry.TTL < minTTL:
		return fmt.Errorf("a time-to-live of %v is too short for renewals to arrive: set --ttl to at least %v", o.Registry.TTL, minTTL)
	}
	switch o.Dispatch.PublishData {
	case dispatch.PublishFull, dispatch.PublishRedacted, dispatch.PublishNone:
		return nil
	}
	return fmt.Errorf(`publish-data is %q: "full", "redacted" or "none"`, o.Dispatch.PublishData)
}
