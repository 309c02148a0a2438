package audit

import (
	"context"
	"log/slog"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says where the lines go.
type Options struct {
	// Log takes the lines; nil means [slog.Default].
	Log *slog.Logger
}

// Registration is how the hook asks to be called: told of tool calls and their
// outcomes, never asked.
func Registration() chain.Registration {
	return chain.Registration{
		ID:       "audit",
		Events:   []string{events.ToolPre, events.ToolPost, events.ToolError},
		Priority: 10,
		Mode:     chain.Observe,
	}
}

// Hook returns the hook. It is safe for concurrent use where the logger is.
func Hook(opts Options) chain.Hook {
	log := opts.Log
	if log == nil {
		log = slog.Default()
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		var d events.ToolPostData // has all that the other events have, and more
		if err := ev.Decode(&d); err != nil {
			return chain.Result{}, err
		}
		tool := []slog.Attr{slog.String("session_id", ev.Session), slog.String("tool_name", d.ToolName)}
		switch events.Canonical(ev.Name) {
		case events.ToolPre:
			log.LogAttrs(ctx, slog.LevelInfo, "tool starting", tool...)
		case events.ToolPost:
			log.LogAttrs(ctx, slog.LevelInfo, "tool completed",
				append(tool, slog.Bool("success", d.Success), slog.Int64("duration_ms", d.DurationMS))...)
		case events.ToolError:
			log.LogAttrs(ctx, slog.LevelWarn, "tool failed", tool...)
		}
		return chain.Result{}, nil
	}
}
