package sessionlogger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options of the builtin: there are none.
type Options struct{}

// maxReason limits the logged reason and session id, in characters.
const maxReason = 100

// Builtin is session-logger.
var Builtin = builtin.Of("Logs how each session went.",
	chain.Registration{Events: []string{events.SessionEnd}, Priority: 100, Mode: chain.Observe, ReplaySafe: true}, New)

// stats are the statistics that an event may have of its session. Agents omit what they do not
// count.
type stats struct {
	Reason     string   `json:"reason"`
	DurationMS *float64 `json:"duration_ms"`
	Stats      struct {
		Messages *float64 `json:"total_messages"`
		Tools    *float64 `json:"tool_invocations"`
		Tokens   *float64 `json:"total_tokens"`
	} `json:"stats"`
}

// New builds the hook.
func New(s kind.Section, _ Options) (kind.Hook, error) {
	log := builtin.LogOf(s)
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		var data stats
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return chain.Result{}, fmt.Errorf("read how the session went: %w", err)
		}
		attrs := []any{"session_id", builtin.Line(ev.Session, maxReason), "reason", builtin.Line(data.Reason, maxReason)}
		for _, one := range []struct {
			name  string
			value *float64
		}{{"duration_ms", data.DurationMS}, {"messages", data.Stats.Messages}, {"tools", data.Stats.Tools}, {"tokens", data.Stats.Tokens}} {
			if one.value != nil {
				attrs = append(attrs, one.name, int64(*one.value))
			}
		}
		log.Info("session complete", attrs...)
		return chain.Result{}, nil
	}}, nil
}
