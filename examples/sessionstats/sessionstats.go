// Package sessionstats is an example hook that tells how a session went: the user
// when the agent is done, the log when the session is over.
//
// It keeps no state; the numbers come with the events. So any number of instances
// may share the work.
package sessionstats

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says where the line about a session goes.
type Options struct {
	// Log takes it; nil means [slog.Default].
	Log *slog.Logger
}

// Registration is how the hook asks to be called: when the agent is done, and
// when the session is.
func Registration() chain.Registration {
	return chain.Registration{ID: "session-stats", Events: []string{events.OrchestratorComplete, events.SessionEnd}, Priority: 20}
}

// Hook returns the hook. It is safe for concurrent use where the logger is.
func Hook(opts Options) chain.Hook {
	log := opts.Log
	if log == nil {
		log = slog.Default()
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		if ev.Name == events.SessionEnd {
			return chain.Result{}, logSession(ctx, log, ev)
		}
		var d events.OrchestratorCompleteData
		if err := ev.Decode(&d); err != nil {
			return chain.Result{}, err
		}
		turns := "turns"
		if d.TurnCount == 1 {
			turns = "turn"
		}
		result := chain.Result{
			UserMessage: fmt.Sprintf("Session complete: %d %s in %.1fs", d.TurnCount, turns,
				(time.Duration(d.DurationMS) * time.Millisecond).Seconds()),
			SuppressOutput: true,
		}
		if d.Status != "" && d.Status != "success" {
			result.UserMessage += " (" + d.Status + ")"
			result.UserMessageLevel = chain.LevelWarning
		}
		return result, nil
	}
}

func logSession(ctx context.Context, log *slog.Logger, ev events.Event) error {
	var d events.SessionEndData
	if err := ev.Decode(&d); err != nil {
		return err
	}
	log.LogAttrs(ctx, slog.LevelInfo, "session complete",
		slog.String("session_id", ev.Session),
		slog.String("reason", d.Reason),
		slog.Int64("duration_ms", d.DurationMS),
		slog.Int64("messages", d.Stats.TotalMessages),
		slog.Int64("tools", d.Stats.ToolInvocations),
		slog.Int64("tokens", d.Stats.TotalTokens))
	return nil
}
