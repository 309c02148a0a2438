package chain

import (
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// checkLabels removes invalid lists of labels. It returns an error for invalid labels to add:
// without them, what happens later might be allowed.
func (r *Result) checkLabels() error {
	if r.Action != AskUser || events.CheckLabels(r.Unlabel) != nil {
		r.Unlabel = nil
	}
	if err := events.CheckLabels(r.Labels); err != nil {
		r.Labels = nil
		return fmt.Errorf("%w: labels: %w", ErrInvalidResult, err)
	}
	return nil
}

// unlabeled returns the result without labels, which are for the router and not for the agent.
func (r Result) unlabeled() Result {
	r.Labels, r.Unlabel = nil, nil
	return r
}
