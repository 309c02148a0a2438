package audit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// StatsCmd is `hookctl audit stats`.
type StatsCmd struct {
	cli.Period
}

// Stats is the JSON form of the statistics.
type Stats struct {
	Records    int            `json:"records"` // that were counted
	Unreadable int            `json:"unreadable"`
	Chains     map[string]int `json:"chains"` // by what they decided
	Refused    int            `json:"refused"`
	Hooks      []HookCount    `json:"hooks"`
	Failures   map[string]int `json:"failures"` // by class
	FailedOpen int            `json:"failed_open"`
	Asked      int            `json:"asked"`
	Decided    map[string]int `json:"decided"` // by kind of decider
	Granted    int            `json:"granted"`
	Lost       int            `json:"lost"`
	Segments   []segmentStats `json:"segments"`
	Missing    []Gap          `json:"missing,omitempty"` // segments that are not there
}

// HookCount counts the results of a hook for an event.
type HookCount struct {
	Event      string `json:"event"`
	Hook       string `json:"hook"`
	Action     string `json:"action"`
	Count      int    `json:"count"`
	Failed     int    `json:"failed"`
	FailedOpen int    `json:"failed_open"`
}

// segmentStats is the state of one stream of the log.
type segmentStats struct {
	Number   int       `json:"number"`
	Stream   string    `json:"stream"`
	Sealed   bool      `json:"sealed"`
	Messages uint64    `json:"messages"`
	Bytes    uint64    `json:"bytes"`
	Last     uint64    `json:"last"`
	Created  time.Time `json:"created"`
	Drift    []string  `json:"drift,omitempty"`
	// Of the last checkpoint, which is not verified here; zero for none.
	Size       int64      `json:"checkpoint_size"`
	Root       string     `json:"checkpoint_root,omitempty"`
	Checkpoint *time.Time `json:"checkpoint_time,omitempty"`
	// Alarm is why routers do not sign it any more; nil for no alarm.
	Alarm *query.Alarm `json:"alarm,omitempty"`
}

// Run prints the statistics.
func (c *StatsCmd) Run(ctx context.Context, e *cli.Env) error {
	now := time.Now()
	since, err := c.From(now)
	if err != nil {
		return err
	}
	l, b, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	s := Stats{Chains: map[string]int{}, Failures: map[string]int{}, Decided: map[string]int{}, Hooks: []HookCount{}, Segments: []segmentStats{}}
	counts := map[HookCount]*HookCount{}
	err = l.Query(ctx, query.Filter{Since: since}, func(r query.Record) error {
		s.count(&r, counts)
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range counts {
		s.Hooks = append(s.Hooks, *n)
	}
	slices.SortFunc(s.Hooks, func(a, b HookCount) int {
		return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.Action, b.Action))
	})
	if err := s.addSegments(ctx, l); err != nil {
		return err
	}
	if e.Out.Document(s) {
		return nil
	}
	s.show(e.Out, b.Prefix(), now)
	return nil
}

func (s *Stats) count(r *query.Record, counts map[HookCount]*HookCount) {
	s.Records++
	switch {
	case r.Err != nil:
		s.Unreadable++
	case r.OfHook():
		action := r.Action
		if r.Kind == audit.HookSkipped {
			action = skipped(r)
		}
		if r.Shadow {
			action = "shadow: " + action
		}
		key := HookCount{Event: r.Event, Hook: r.Hook, Action: action}
		n := counts[key]
		if n == nil {
			n = &HookCount{Event: r.Event, Hook: r.Hook, Action: action}
			counts[key] = n
		}
		n.Count++
		if r.Failure != "" {
			n.Failed++
			s.Failures[r.Failure]++
		}
		if r.FailedOpen {
			n.FailedOpen++
			s.FailedOpen++
		}
	case r.Kind == audit.ChainResult:
		s.Chains[r.Action]++
	case r.Kind == audit.ChainRefused:
		s.Refused++
	case r.Kind == audit.ApprovalRequested && r.Action != "joined":
		s.Asked++
	case r.Kind == audit.ApprovalDecided:
		s.Decided[deciderKind(r)]++
		if r.Granted {
			s.Granted++
		}
	case r.Kind == audit.LogKind:
		s.Lost += r.Lost
	}
}

func (s *Stats) addSegments(ctx context.Context, l *query.Log) error {
	segments, err := l.Segments(ctx)
	if err != nil {
		return err
	}
	var numbers []int
	for _, seg := range segments {
		numbers = append(numbers, seg.Number)
		state, err := l.State(ctx, seg)
		if err != nil {
			return err
		}
		one := segmentStats{
			Number: seg.Number, Stream: seg.Name(), Sealed: state.Sealed, Messages: state.Messages, Bytes: state.Bytes, Last: state.Last,
			Created: state.Created.UTC(), Drift: slices.Concat(state.Drift, state.Removed),
		}
		n, err := l.LastNote(ctx, seg.Name())
		if err != nil && !errors.Is(err, natsx.ErrNoKey) {
			return err
		}
		if err == nil && n.OK {
			one.Size, one.Root, one.Checkpoint = n.Size, n.Root.String(), &n.Time
		}
		if one.Alarm, err = l.Alarm(ctx, seg); err != nil {
			return err
		}
		s.Segments = append(s.Segments, one)
	}
	s.Missing = gaps(numbers)
	return nil
}
