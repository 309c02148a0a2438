package chain

import (
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// checkLabels validates the labels of a result.
func (r Result) checkLabels() error {
	for _, list := range [...]struct {
		name   string
		labels []string
	}{{"labels", r.Labels}, {"unlabel", r.Unlabel}} {
		if err := events.CheckLabels(list.labels); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrInvalidResult, list.name, err)
		}
	}
	if len(r.Unlabel) > 0 && r.Action != AskUser {
		return fmt.Errorf("%w: unlabel goes with ask_user only: a person removes labels", ErrInvalidResult)
	}
	return nil
}

// unlabeled returns the result without labels, which are for the router and not for the agent.
func (r Result) unlabeled() Result {
	r.Labels, r.Unlabel = nil, nil
	return r
}
