package chain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Policy is what a hook's failure means for the event.
type Policy string

// The policies. The zero Policy means [FailOpen].
const (
	FailOpen   Policy = "continue" // a failing hook is skipped and counted
	FailClosed Policy = "deny"     // a failing hook denies
)

// Mode is the way in which a hook takes part in a chain.
type Mode string

// The modes. The zero Mode means [Enforce].
const (
	Enforce Mode = "enforce" // called in order; its answer counts
	Shadow  Mode = "shadow"  // called next to the chain; its answer is only recorded
	Observe Mode = "observe" // called after the chain's answer, which it cannot change
	Async   Mode = "async"   // like Observe, but its injections reach the session's next turn
)

// Effect is what a call of a hook may do.
type Effect string

// The effects. The zero Effect means that a call may change the event or have side effects.
const (
	// Validates means that the hook never modifies the event and that a discarded call does no
	// harm. [Run] calls adjacent hooks with this effect concurrently.
	Validates Effect = "validate"
)

// Limits and defaults of a registration.
const (
	DefaultTimeout = 5 * time.Second  // of one call, if the hook sets none
	MaxTimeout     = 30 * time.Second // of one call
	maxMatchLen    = 4096
	maxPatterns    = 64
)

// ProtocolVersion is the version of the wire protocol that this package implements.
const ProtocolVersion = 1

// ProtocolEcho is the first protocol version whose senders repeat the id of a call in their
// replies.
const ProtocolEcho = 2

// Registration declares which events a hook gets and how it is called: the body of
// hooks.register.<id>. Zero fields mean the protocol's defaults.
type Registration struct {
	// ID is unique on the bus.
	ID string `json:"id"`
	// Name is shown to people; empty means the id.
	Name string `json:"name,omitempty"`
	// Events are the patterns of the hook's events: names, "domain:*" or "*".
	Events []string `json:"events,omitempty"`
	// Channels makes the hook a contributor instead. Set either Events or Channels.
	Channels []string `json:"channels,omitempty"`
	// Priority orders hooks, lowest first. Equal priorities run in the order of first registration.
	Priority int `json:"priority,omitempty"`
	// TimeoutMS bounds one call, in milliseconds; 0 means [DefaultTimeout].
	TimeoutMS int `json:"timeout_ms,omitempty"`
	// OnFailure is what a failure of the hook means, continue or deny; empty means continue.
	OnFailure Policy `json:"on_failure,omitempty"`
	// Match is a CEL expression over event, session_id, data, tool, labels, emitter and lineage; empty means always.
	Match string `json:"match,omitempty"`
	// Mode is enforce, shadow, observe or async; empty means enforce.
	Mode Mode `json:"mode,omitempty"`
	// SessionID limits the hook to one session; empty means every session.
	SessionID string `json:"session_id,omitempty"`
	// Durable keeps the hook registered while no instance is alive; nil means true if OnFailure
	// is deny, else false.
	Durable *bool `json:"durable,omitempty"`
	// Effect is what a call may do. "validate" means that the hook never changes the event and that
	// a discarded call does no harm; empty means anything.
	Effect Effect `json:"effect,omitempty"`
	// Approval says whose approval the hook's questions need; nil means anyone who may answer.
	Approval *Approval `json:"approval,omitempty"`
	// ReplaySafe says that calling the hook twice for one event does no harm.
	ReplaySafe bool `json:"replay_safe,omitempty"`
	// Instance identifies one of the hook's processes. The router sets a missing one.
	Instance string `json:"instance,omitempty"`
	// Version is that of the hook's code. An older version can't replace a newer one.
	Version string `json:"version,omitempty"`
	// Protocol is the sender's protocol version; 0 means 1.
	Protocol int `json:"protocol,omitempty"`
}

// Title returns the hook's name for people: its name, or else its id.
func (r Registration) Title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.ID
}

// Timeout returns the time of one call.
func (r Registration) Timeout() time.Duration {
	if r.TimeoutMS == 0 {
		return DefaultTimeout
	}
	return time.Duration(r.TimeoutMS) * time.Millisecond
}

// StaysRegistered reports whether the hook stays registered without live instances.
func (r Registration) StaysRegistered() bool {
	if r.Durable != nil {
		return *r.Durable
	}
	return r.OnFailure == FailClosed
}

// Enforced reports whether the hook's answer counts.
func (r Registration) Enforced() bool { return r.Mode == Enforce || r.Mode == "" }

// Observes reports whether the hook is called after the chain's answer: in mode [Observe] or
// [Async].
func (r Registration) Observes() bool { return r.Mode == Observe || r.Mode == Async }

// validates reports whether the hook may be called concurrently with its neighbors.
func (r Registration) validates() bool { return r.Effect == Validates && r.Enforced() }

// WithDefaults returns the registration with all defaults filled in, as listed by hooks.registry.
func (r Registration) WithDefaults() Registration {
	durable := r.StaysRegistered()
	r.Durable = &durable
	r.Name = r.Title()
	r.TimeoutMS = int(r.Timeout() / time.Millisecond)
	r.OnFailure = cmp.Or(r.OnFailure, FailOpen)
	r.Mode = cmp.Or(r.Mode, Enforce)
	r.Protocol = cmp.Or(r.Protocol, ProtocolVersion)
	return r
}

// ParseRegistration parses the body of hooks.register.<id> and checks it, except that it does not
// compile the match. An unknown field is an error unless the sender speaks a newer protocol, as
// given by the field protocol or by spoken, from the message. Such fields are then returned in
// ignored.
func ParseRegistration(id string, body []byte, spoken int) (r Registration, ignored []string, err error) {
	if _, err := events.ParseObject(body); err != nil {
		return r, nil, errors.New(strings.Replace(err.Error(), "data", "the registration", 1))
	}
	var wire struct {
		Registration
		Approval jsontext.Value            `json:"approval"`
		Unknown  map[string]jsontext.Value `json:",embed"`
	}
	if err := jsonv2.Unmarshal(body, &wire); err != nil {
		if sem, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
			return r, nil, fmt.Errorf("registration: %s must be %s, not %s",
				strings.TrimPrefix(string(sem.JSONPointer), "/"), kindOf(sem), sem.JSONKind)
		}
		return r, nil, fmt.Errorf("registration: %w", err)
	}
	r = wire.Registration
	if r.Approval, err = parseApproval(wire.Approval); err != nil {
		return r, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(wire.Unknown)) {
		if max(r.Protocol, spoken) <= ProtocolVersion {
			return r, nil, fmt.Errorf("registration has the unknown field %q", name)
		}
		ignored = append(ignored, name)
	}
	if r.Effect != "" && max(r.Protocol, spoken) < ProtocolEcho {
		return r, nil, fmt.Errorf("registration has an effect: it needs protocol %d", ProtocolEcho)
	}
	if r.Mode == Async && max(r.Protocol, spoken) < ProtocolEcho {
		return r, nil, fmt.Errorf("registration has the mode async: it needs protocol %d", ProtocolEcho)
	}
	r.ID = cmp.Or(r.ID, id)
	if r.ID != id {
		return r, nil, fmt.Errorf("registration is of %q but was sent for %q", r.ID, id)
	}
	return r, ignored, r.Check()
}

func kindOf(sem *jsonv2.SemanticError) string {
	if sem.GoType == nil {
		return "of another type"
	}
	switch sem.GoType.Kind().String() {
	case "int":
		return "an integer"
	case "bool", "ptr":
		return "true or false"
	case "slice":
		return "a list of strings"
	default:
		return "a string"
	}
}

// Content returns the registration as JSON without Instance, Version and Protocol. Equal contents
// describe the same hook.
func (r Registration) Content() string {
	r = r.WithDefaults()
	r.Instance, r.Version, r.Protocol = "", "", 0
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings, numbers and flags only
	}
	return string(b)
}
