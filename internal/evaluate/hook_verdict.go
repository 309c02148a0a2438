package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// HookVerdict is what one hook did.
type HookVerdict struct {
	ID      string            `json:"id"`
	Mode    chain.Mode        `json:"mode,omitempty"` // where it is not enforced
	Effect  workerfile.Effect `json:"did"`
	Reason  string            `json:"reason,omitempty"`
	Inject  string            `json:"inject,omitempty"`
	Ask     string            `json:"ask,omitempty"`
	Failure chain.Failure     `json:"failure,omitempty"`
	Error   string            `json:"error,omitempty"`
	// Why is what the hook itself does not say: where the rule stands that decided, or
	// why it was not called.
	Why string `json:"why,omitempty"`
	// Changes are what it changed in the data, as a JSON Patch with the former values.
	Changes json.RawMessage `json:"changes,omitempty"`
	// UserMessage is what it has to say to the user.
	UserMessage string `json:"user_message,omitempty"`
}

var skipped = HookVerdict{Effect: workerfile.Skipped, Why: "its match does not hold"}

// call is one call of a hook.
type call struct {
	before json.RawMessage // the data that it received

	mu   sync.Mutex // guards part: a hook that ignores its timeout may set it late
	part jsontext.Pointer
}

func (c *call) run(ctx context.Context, entry *chain.Entry, ev events.Event) (chain.Result, error) {
	return chain.InProcess(kind.WithWhy(ctx, func(part jsontext.Pointer) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.part = part
	}), entry, ev)
}

// decided returns the part of the hook's section that decided, or "" if it is unknown.
func (c *call) decided() jsontext.Pointer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.part
}

// hookVerdict returns what a hook did in a call. called is nil if its match could not be evaluated.
func (c *fileHooks) hookVerdict(entry *chain.Entry, r chain.Result, failure chain.Failure, err error, called *call) HookVerdict {
	h := HookVerdict{
		ID: entry.ID, Effect: workerfile.Effect(cmp.Or(r.Action, chain.Continue)), Reason: r.Reason, Failure: failure,
		Inject: r.ContextInjection, Ask: r.ApprovalPrompt, UserMessage: r.UserMessage,
	}
	if failure != "" {
		h.Effect = workerfile.Failed
	}
	if err != nil {
		h.Error = err.Error()
	}
	if called == nil {
		return h
	}
	if _, assumed := c.assumed[entry.ID]; assumed {
		h.Why = "assumed"
	}
	if part := called.decided(); part != "" {
		h.Why = c.files[entry.ID].Place(part)
	}
	if r.Action == chain.Modify && r.Data != nil {
		h.Changes, _ = approval.Changes(called.before, r.Data) // both were validated
	}
	return h
}
