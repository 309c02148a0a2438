package dispatch

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Labels stores which labels sessions have. [labels.Name] names a session.
type Labels interface {
	// Labels returns the labels of a session, sorted, or an error with code 503 if this replica
	// can't know. Callers must not change the slice.
	Labels(session string) ([]string, error)
	// Session returns the stored record of a session, which may be empty.
	Session(session string) labels.Record
	// Claim stores a session's claimed parent and root; each may be empty. When it returns, every
	// replica knows them.
	Claim(ctx context.Context, session, parent, root string) error
	// AddLabels adds labels, each with the hook that set it, and returns all labels of the
	// session. When it returns, every replica knows them.
	AddLabels(ctx context.Context, session string, by map[string]string) ([]string, error)
	// AskToRemove notes that a person is asked to remove labels from the session, and when.
	AskToRemove(ctx context.Context, session string, remove []string) (asked time.Time, err error)
	// LabelsAgain returns those of labels that the session got again after a person was asked to
	// remove them.
	LabelsAgain(session string, remove []string, asked time.Time) ([]string, error)
	// RemoveLabels removes labels, except those that a hook added after a person was asked.
	RemoveLabels(ctx context.Context, session string, remove []string, asked time.Time) error
}

// labeled names the session for labels. Events of a proven sender without a session have a name
// too.
func labeled(req Request) string { return labels.Name(req.Emitter, req.Event.Session) }

// stamp sets the extensions that only the router may set, and drops the agent's values for them.
func (d *Dispatcher) stamp(req Request) (events.Event, error) {
	ev, name := req.Event, labeled(req)
	known, err := d.labels.Labels(name)
	if err != nil {
		return ev, err
	}
	attrs := maps.Clone(ev.Extensions)
	for _, own := range [...]string{events.AttrLabels, events.AttrEmitter, events.AttrRole, events.AttrRoot, events.AttrParent, events.AttrDepth} {
		delete(attrs, own)
	}
	set := func(name, value string) {
		if value == "" {
			return
		}
		if attrs == nil {
			attrs = map[string]string{}
		}
		attrs[name] = value
	}
	if req.Emitter != "" {
		set(events.AttrEmitter, req.Emitter)
		set(events.AttrRole, events.RoleOf(req.Emitter))
	}
	if above := d.labels.Session(name); above.Root != "" {
		set(events.AttrRoot, above.Root)
		set(events.AttrParent, above.Parent)
		set(events.AttrDepth, strconv.Itoa(above.Depth))
	}
	set(events.AttrLabels, strings.Join(known, ","))
	ev.Extensions = attrs
	return ev, nil
}

// claim stores the event's claims about the sessions above its own, from its attributes or from the
// data of an event that begins a session. An agent can only add claims.
func (d *Dispatcher) claim(ctx context.Context, req Request) error {
	ev := req.Event
	parent, root := ev.Extensions[events.AttrParent], ev.Extensions[events.AttrRoot]
	if parent == "" && (ev.Name == events.SessionFork || ev.Name == events.SessionStart) {
		parent, _ = req.Object.GetString("parent_session_id")
	}
	if ev.Session == "" || parent == "" && root == "" {
		return nil
	}
	for _, id := range [...]string{parent, root} {
		if err := events.CheckSession(id); err != nil {
			return wire.Errorf(wire.Malformed, "parent session: %v", err)
		}
	}
	return d.labels.Claim(ctx, labeled(req), parent, root)
}

// depth is the number of sessions above the event's.
func (ev *event) depth() int {
	n, _ := strconv.Atoi(ev.request.Event.Extensions[events.AttrDepth]) // set by the router
	return n
}

// maxReruns bounds how often a chain runs again because its session got labels meanwhile.
const maxReruns = 3

// run runs the event's hooks within its time, and stores the labels that they add, whatever they
// decide. If other events added labels meanwhile, the chain runs again, so that concurrent
// events are decided as if they came one after the other.
func (d *Dispatcher) run(ctx context.Context, ev *event) (out chain.Outcome, err error) {
	until := time.Now().Add(ev.timeout)
	defer func() { ev.observed.Outcome = &out }()
	var before []chain.Call
	for try := 0; ; try++ {
		out, err = d.runOnce(ctx, ev, until)
		out.InVain = append(before, out.InVain...)
		added := labelsOf(out.Calls)
		if len(added) == 0 {
			return out, err
		}
		saw := events.UnionLabels(ev.request.Event.Labels(), out.Labels)
		now, labelErr := d.addLabels(context.WithoutCancel(ctx), ev, added)
		if labelErr != nil {
			return out, labelErr
		}
		if err != nil {
			return out, err
		}
		grown := events.NewLabels(saw, now)
		if len(grown) == 0 {
			return out, nil
		}
		if try == maxReruns {
			return out, wire.Errorf(wire.Unavailable, "the session has seen more while the event was decided: try again")
		}
		ev.request.Event = ev.request.Event.WithLabels(now...)
		before = slices.Concat(out.InVain, out.Calls)
	}
}

// labelsOf returns the labels that hooks added, each with the first hook that did. Labels that the
// session already has count too: the store decides whether to renew them.
func labelsOf(calls []chain.Call) (by map[string]string) {
	for _, call := range calls {
		for _, label := range call.Result.Labels {
			if by == nil {
				by = map[string]string{}
			}
			if by[label] == "" {
				by[label] = call.Entry.ID
			}
		}
	}
	return by
}

// addLabels stores the labels that a chain added. An event without a session has nowhere to store
// them and is refused.
func (d *Dispatcher) addLabels(ctx context.Context, ev *event, by map[string]string) ([]string, error) {
	name := labeled(ev.request)
	if name == "" {
		return nil, wire.Errorf(wire.Malformed, "a hook adds the label %s, but the event names no session to store it for", slices.Min(slices.Collect(maps.Keys(by))))
	}
	now, err := d.labels.AddLabels(ctx, name, by)
	if err != nil {
		d.noteRefused(ev, unavailable, "")
	}
	return now, err
}
