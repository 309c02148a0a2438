package approvals

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// People knows the people and models behind proven identities.
type People interface {
	// Person returns the person of an identity; empty for none.
	Person(identity string) string
	// Model reports whether an identity is a model's. Models never allow.
	Model(identity string) bool
	// CountApproval adds the approval of an identity to earlier ones of what sender asks for. The error,
	// with code 403 or 409, says why it does not count.
	CountApproval(a *chain.Approval, sender string, earlier []string, identity string) (progress string, done bool, err error)
}

// Sessions holds the state of the sessions that ask.
type Sessions interface {
	// Past reports whether the session of an approval request ended, or its approvals were revoked,
	// since a person was asked: then nobody can allow it any more.
	Past(context.Context, *held.Event) (bool, error)
	// Remember stores a decision that is valid for the whole session, before waiters are notified.
	// It may be called more than once.
	Remember(context.Context, *held.Event, approval.Decision) error
}

// Dispatcher acts on people's answers. Its methods are in the order in which they are called.
type Dispatcher interface {
	// Reviewed records an answer that does not end its request, before it counts.
	Reviewed(context.Context, *held.Event, approval.Review) error
	// Waits reports that such an answer is stored with its request.
	Waits(context.Context, *held.Event)
	// Unlabel removes the labels that a decision of this replica removes, before waiters are
	// notified. It is called once.
	Unlabel(context.Context, *held.Event, approval.Decision) error
	// Decided reports a decision of this replica. The context is that of whoever decided.
	Decided(context.Context, *held.Event, approval.Decision)
	// Relabel adds again the labels that the hooks of a granted event added, before its agent is
	// permitted. Until it succeeds, the agent waits.
	Relabel(context.Context, *held.Event) error
}
