package agentapi

import (
	"context"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Accepted is the reply to an accepted answer.
type Accepted struct {
	Status string `json:"status"` // accepted
	Option string `json:"option"`
	// Open says that the request is not decided yet; Progress says what is missing.
	Open     bool   `json:"open,omitzero"`
	Progress string `json:"progress,omitempty"`
}

// Answered returns the reply to an answer to an approval request, from its decision.
func Answered(ctx context.Context, service approval.Service, id string, decision approval.Decision) Accepted {
	a := Accepted{Status: "accepted", Option: decision.Option, Open: !decision.Ends()}
	if a.Open {
		if record, err := service.Get(ctx, id); err == nil {
			a.Open, a.Progress = record.Decision == nil, record.Progress
		}
	}
	return a
}
