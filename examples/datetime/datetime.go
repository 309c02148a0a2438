// Package datetime is an example hook that tells the agent what time it is,
// whenever the user submits a prompt: a model does not know.
//
// The time is the hook's machine's, with its offset from UTC.
package datetime

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says which clock is read.
type Options struct {
	// Now is the clock; its times say their zone. nil means [time.Now].
	Now func() time.Time
}

// Registration is how the hook asks to be called: for each prompt.
func Registration() chain.Registration {
	return chain.Registration{ID: "date-time", Events: []string{events.PromptSubmit}, Priority: 20, ReplaySafe: true}
}

// Hook returns the hook. It is safe for concurrent use where the clock is.
func Hook(opts Options) chain.Hook {
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	return func(context.Context, events.Event) (chain.Result, error) {
		result := chain.Injection("Current date/time: " + now().Format(time.RFC3339))
		result.SuppressOutput = true
		return result, nil
	}
}
