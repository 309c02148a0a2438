package approvals_test

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// fake is both the sessions and the dispatcher of a service. Its zero value does nothing.
type fake struct {
	past       bool
	decided    chan approval.Decision
	remembered chan string // ids of requests
	reviewed   func(approval.Review) error
}

func (f *fake) Past(context.Context, *held.Event) (bool, error) { return f.past, nil }

func (f *fake) Remember(_ context.Context, r *held.Event, _ approval.Decision) error {
	if f.remembered != nil {
		f.remembered <- r.ID
	}
	return nil
}

func (f *fake) Reviewed(_ context.Context, _ *held.Event, review approval.Review) error {
	if f.reviewed != nil {
		return f.reviewed(review)
	}
	return nil
}

func (f *fake) Waits(context.Context, *held.Event) {}

func (f *fake) Unlabel(context.Context, *held.Event, approval.Decision) error { return nil }

func (f *fake) Decided(_ context.Context, _ *held.Event, d approval.Decision) {
	if f.decided != nil {
		f.decided <- d
	}
}

func (f *fake) Relabel(context.Context, *held.Event) error { return nil }
