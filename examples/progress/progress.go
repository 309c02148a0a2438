// Package progress is an example hook that shows the user how far a tool got, and
// hides its own output: user_message and suppress_output, no decision.
//
// It speaks about events whose data has files_processed, and keeps silent about
// others.
package progress

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Registration is how the hook asks to be called: after tools that count files.
func Registration() chain.Registration {
	return chain.Registration{
		ID: "progress", Events: []string{events.ToolPost}, Priority: 20, Match: "has(data.files_processed)", ReplaySafe: true,
	}
}

// Hook returns the hook. It is safe for concurrent use.
func Hook() chain.Hook {
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		var d struct {
			Files *int64 `json:"files_processed"`
		}
		if err := ev.Decode(&d); err != nil {
			return chain.Result{}, err
		}
		if d.Files == nil {
			return chain.Result{}, nil
		}
		files := "files"
		if *d.Files == 1 {
			files = "file"
		}
		return chain.Result{
			UserMessage:      fmt.Sprintf("Processed %d %s successfully", *d.Files, files),
			UserMessageLevel: chain.LevelInfo,
			SuppressOutput:   true,
		}, nil
	}
}
