package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Alarm says why routers do not sign the end of a segment.
type Alarm struct {
	Segment string `json:"segment"`
	// Next is the segment that routers sign instead. Empty if they sign none yet: then only a
	// record reports the alarm, and whoever can write to the log can forge it.
	Next string `json:"next,omitempty"`
	// Reason and Time are those of the record; empty if the segment has none.
	Reason string    `json:"reason,omitempty"`
	Time   time.Time `json:"time,omitzero"`
}

// maxReason bounds the reason in bytes, which anybody may have written.
const maxReason = 500

// String returns a sentence without its period.
func (a Alarm) String() string {
	why := ""
	if a.Reason != "" {
		why = fmt.Sprintf(" (%s, %s)", a.Reason, a.Time.UTC().Format(time.RFC3339))
	}
	if a.Next == "" {
		return fmt.Sprintf("%s has the record of an alarm%s, and no checkpoint since: unless it is forged, routers no longer sign it", a.Segment, why)
	}
	return fmt.Sprintf("%s had an alarm%s: routers no longer sign it; %s is signed", a.Segment, why, a.Next)
}

// findAlarm returns the alarm after which routers stopped signing a segment; nil if its end is
// signed, or nothing reports an alarm. A record before a checkpoint is not a router's: no router
// signs after an alarm. Routers sign the next segment only when they are done with this one, so a
// checkpoint there proves what a record only claims. Nothing is permitted because of either.
func findAlarm(ctx context.Context, t *store.Log, s store.Segment) (*Alarm, error) {
	state, err := t.State(ctx, s)
	if err != nil || state.Last == 0 {
		return nil, err
	}
	a := &Alarm{Segment: s.Name()}
	if a.Next, err = SignedAfter(ctx, t, s); err != nil { // before the last checkpoint here, which may come meanwhile
		return nil, err
	}
	last, err := t.LastCheckpoint(ctx, s)
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		return nil, err
	}
	n := ParseNote([]byte(last.Signed))
	if n.Later || n.OK && uint64(n.Size) >= state.Last {
		return nil, nil //nolint:nilnil // no alarm is no error
	}
	only := Filter{Kinds: []audit.Kind{audit.LogKind}, Action: "alarm"}
	err = s.Read(ctx, "", uint64(n.Size)+1, state.Last, func(msg natsx.Record) error {
		return only.each(s, msg, func(r Record) error {
			if r.Err == nil {
				a.Reason, a.Time = strings.ToValidUTF8(r.Reason[:min(len(r.Reason), maxReason)], ""), r.Time
				return ErrEnough
			}
			return nil
		})
	})
	if err := unlessEnough(err); err != nil {
		return nil, err
	}
	if a.Next == "" && a.Time.IsZero() {
		return nil, nil //nolint:nilnil // as above
	}
	return a, nil
}

// ProvenAlarm returns the alarm of a segment that a checkpoint of the next one proves; nil if there
// is none.
func ProvenAlarm(ctx context.Context, t *store.Log, s store.Segment) (*Alarm, error) {
	a, err := findAlarm(ctx, t, s)
	if a != nil && a.Next == "" {
		a = nil
	}
	return a, err
}

// SignedAfter returns the stream name of the segment after this one if routers have begun to sign
// it, else "".
func SignedAfter(ctx context.Context, t *store.Log, s store.Segment) (string, error) {
	next, err := t.After(ctx, s.Number)
	if errors.Is(err, natsx.ErrNoStream) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	c, err := t.LastCheckpoint(ctx, next)
	if errors.Is(err, natsx.ErrNoKey) || err == nil && !ParseNote([]byte(c.Signed)).OK {
		return "", nil
	}
	return next.Name(), err
}

// Alarm returns the alarm of a segment; nil if its end is signed, or nothing reports one. A record
// may be its only evidence.
func (l *Log) Alarm(ctx context.Context, s store.Segment) (*Alarm, error) {
	return findAlarm(ctx, l.store, s)
}
