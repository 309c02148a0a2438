package registry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/mod/semver"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Keys of the bucket: "hook.<id>" and "replica.<id>", and those of [freezeKey],
// [pinKey], [disabledKey] and [labelKey].
const (
	hookKey    = "hook."
	replicaKey = "replica."
)

// record is the stored form of one hook.
type record struct {
	Registration chain.Registration `json:"registration"`
	// Order is the revision of the first registration; 0 in that one itself.
	Order     uint64              `json:"order,omitempty"`
	Instances map[string]instance `json:"instances"`
	// Removed is when the hook was removed. It makes the record a tombstone, so that the hook
	// does not count as lost. Nil for a registered hook.
	Removed *time.Time `json:"removed,omitempty"`
}

// tombstone returns the record of a removed hook.
func tombstone() []byte {
	return fmt.Appendf(nil, `{"removed":%q}`, time.Now().UTC().Format(time.RFC3339))
}

// instance is one registered process behind a hook.
type instance struct {
	Version string `json:"version,omitempty"`
	Content string `json:"content"`          // digest of the registration, to tell a renewal from a change
	Back    uint64 `json:"back,omitempty"`   // counts late renewals
	Echoes  bool   `json:"echoes,omitempty"` // its replies repeat the call id
}

// replica is the stored form of one router replica.
type replica struct {
	Renewal uint64 `json:"renewal"` // counts renewals
	Applied uint64 `json:"applied"` // the revision of its table when it wrote
	// AuditFormat is the newest audit log format that it knows; 0 for replicas that know only
	// the first.
	AuditFormat int `json:"audit_format,omitempty"`
	// TTL is the time-to-live of instances that it grants workers, in nanoseconds; 0 for replicas
	// that do not say.
	TTL time.Duration `json:"ttl_ns,omitempty"`
}

// hook is a record at its revision, and its entry in the table.
type hook struct {
	record
	revision uint64
	entry    *chain.Entry
	heard    atomic.Bool // a worker listened; some clients register and never listen
	deserted atomic.Bool // no worker listens any more, and none has renewed since
}

func decodeHook(e natsx.Entry, compile Compile) (*hook, error) {
	h := &hook{revision: e.Revision}
	if err := json.Unmarshal(e.Value, &h.record); err != nil {
		return nil, fmt.Errorf("read registration %s: %w", e.Key, err)
	}
	if id := h.Registration.ID; h.Removed == nil && hookKey+id != e.Key {
		return nil, fmt.Errorf("read registration %s: it is that of hook %q", e.Key, id)
	}
	order := cmp.Or(h.Order, e.Revision)
	condition, err := compile(h.Registration)
	if err != nil {
		condition = func(*chain.View) (bool, error) { return false, err }
	}
	h.entry = &chain.Entry{Registration: h.Registration, Order: order, Condition: condition, Echoes: h.echoes()}
	return h, nil
}

// unreadable stands in for a hook whose record can't be read. It may be a guard, so it denies every
// event until it is registered again or removed.
func unreadable(id string, revision uint64, err error) *hook {
	reg := chain.Registration{ID: id, Events: []string{"*"}, OnFailure: chain.FailClosed}
	fails := func(*chain.View) (bool, error) { return false, fmt.Errorf("register it again, or remove it: %w", err) }
	return &hook{record: record{Registration: reg}, revision: revision, entry: &chain.Entry{Registration: reg, Order: revision, Condition: fails}}
}

// echoes reports whether all instances repeat the call id in their replies.
func (r *record) echoes() bool {
	for _, i := range r.Instances {
		if !i.Echoes {
			return false
		}
	}
	return len(r.Instances) > 0
}

// change says what a registration does to an existing record.
type change int

const (
	renewed  change = iota // nothing to write: the instance is alive
	written                // the record changes
	outdated               // an older version must not write
)

// recordAfter returns the record after an instance registered. old is nil for a new hook.
func recordAfter(old *hook, reg chain.Registration) (record, change) {
	content := digest(reg)
	mine := instance{Version: reg.Version, Content: content, Echoes: reg.Protocol >= chain.ProtocolEcho}
	if old == nil {
		return record{Registration: reg, Instances: map[string]instance{reg.Instance: mine}}, written
	}
	next := record{Registration: old.Registration, Order: old.entry.Order, Instances: maps.Clone(old.Instances)}
	if next.Instances == nil {
		next.Instances = map[string]instance{}
	}
	before, known := old.Instances[reg.Instance]
	mine.Back = before.Back
	if known && before == mine {
		mine.Back++
		next.Instances[reg.Instance] = mine // if the renewal is written
		return next, renewed
	}
	if content != digest(old.Registration) {
		if Older(reg.Version, old.Registration.Version) {
			return next, outdated
		}
		next.Registration = reg
	} else if Older(old.Registration.Version, reg.Version) {
		next.Registration = reg
	}
	next.Instances[reg.Instance] = mine
	return next, written
}

func digest(reg chain.Registration) string {
	sum := sha256.Sum256([]byte(reg.Content()))
	return hex.EncodeToString(sum[:16])
}

// Older reports whether version a is older than b and so can't replace it. Semantic versions
// compare as such, others as text; an empty version is older than any other.
func Older(a, b string) bool {
	va, vb := "v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")
	if semver.IsValid(va) && semver.IsValid(vb) {
		return semver.Compare(va, vb) < 0
	}
	return a < b
}

// Listing is one registration in hooks.registry.
type Listing struct {
	chain.Registration
	Order     uint64    `json:"order"`
	Revision  uint64    `json:"revision"`
	Instances []Member  `json:"instances"`          // live ones; none once no worker listens any more
	Disabled  *Disabled `json:"disabled,omitempty"` // by an operator; nil if it is not
}

// Member is a live instance of a hook.
type Member struct {
	Instance string `json:"instance"`
	Version  string `json:"version,omitempty"`
}

// has reports whether the hook has a registered instance of that id. A nil hook has none.
func (h *hook) has(instance string) bool {
	if h == nil {
		return false
	}
	_, registered := h.Instances[instance]
	return registered
}

func (h *hook) listing() Listing {
	l := Listing{Registration: h.Registration.WithDefaults(), Order: h.entry.Order, Revision: h.revision, Instances: []Member{}}
	l.Registration.Instance = ""
	if h.deserted.Load() {
		return l
	}
	for _, id := range slices.Sorted(maps.Keys(h.Instances)) {
		l.Instances = append(l.Instances, Member{id, h.Instances[id].Version})
	}
	return l
}
