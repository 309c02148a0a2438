package dispatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// unlabeling adds to a prompt the labels that an approval removes.
func unlabeling(prompt string, unlabel []string) string {
	if len(unlabel) == 0 {
		return prompt
	}
	return fmt.Sprintf("%s\nAllowing it removes from the session: %s", prompt, strings.Join(unlabel, ", "))
}

// unlabelTimeout bounds [Dispatcher.Unlabel].
const unlabelTimeout = 5 * time.Second

// Unlabel removes the labels that a person's decision removes, after recording it. Those that the
// session got again after the question stay. The approvals service calls it before it announces
// the decision.
func (d *Dispatcher) Unlabel(ctx context.Context, s *held.Event, decision approval.Decision) error {
	if len(s.Unlabel) == 0 || !decision.Granted || decidedBy(decision) != telemetry.ByPerson {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, unlabelTimeout)
	defer cancel()
	name := labels.Name(s.Emitter, s.Session)
	again, err := d.labels.LabelsAgain(name, s.Unlabel, s.AskedAt)
	if err != nil {
		return err
	}
	if err := d.recordLabels(ctx, s, decision, "kept", again); err != nil {
		return err
	}
	remove := events.NewLabels(again, s.Unlabel)
	if len(remove) == 0 {
		return nil
	}
	if err := d.recordLabels(ctx, s, decision, "removed", remove); err != nil {
		return err
	}
	return d.labels.RemoveLabels(ctx, name, remove, s.AskedAt)
}

// recordLabels records what a person's decision does to labels. Without labels it records nothing.
func (d *Dispatcher) recordLabels(ctx context.Context, s *held.Event, decision approval.Decision, action string, of []string) error {
	if len(of) == 0 {
		return nil
	}
	line := recordOf(s, audit.LabelsKind, action, audit.Labels{Labels: of, ApprovalID: s.ID, By: decision.DecidedBy, Agent: s.Emitter})
	return d.journal.Record(ctx, line.Append(nil))
}

// Relabel adds the labels of an approved event's hooks to its session again. The approvals service
// calls it before the event's agent is permitted.
func (d *Dispatcher) Relabel(ctx context.Context, s *held.Event) error {
	if len(s.AddedLabels) == 0 {
		return nil
	}
	_, err := d.labels.AddLabels(ctx, labels.Name(s.Emitter, s.Session), s.AddedLabels)
	return err
}

// moreLabels returns the labels that the session of an approval request has, besides those that
// the approver knew.
func (d *Dispatcher) moreLabels(s *held.Event, knew []string) ([]string, error) {
	now, err := d.labels.Labels(labels.Name(s.Emitter, s.Session))
	return events.NewLabels(knew, now), err
}
