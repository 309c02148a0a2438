package sessioncompletion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options of the builtin: there are none.
type Options struct{}

// Builtin is session-completion.
var Builtin = builtin.Of("Tells the user how many turns the agent took, and how long.",
	chain.Registration{Events: []string{events.OrchestratorComplete}, Priority: 50, ReplaySafe: true}, New)

// New builds the hook.
func New(_ kind.Section, _ Options) (kind.Hook, error) {
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		var data struct {
			Turns      *float64 `json:"turn_count"`
			DurationMS *float64 `json:"duration_ms"`
			Status     string   `json:"status"`
		}
		if json.Unmarshal(ev.Data, &data) != nil {
			return chain.Result{}, errors.New("read how the session went: turn_count and duration_ms must be numbers, and status a text")
		}
		if data.Turns == nil || data.DurationMS == nil {
			return chain.Result{}, nil
		}
		how, level := "complete", chain.LevelInfo
		switch data.Status {
		case "error":
			how, level = "failed", chain.LevelError
		case "interrupted":
			how, level = "interrupted", chain.LevelWarning
		}
		return chain.Result{
			UserMessage:      fmt.Sprintf("Session %s: %.0f turns in %.1fs", how, *data.Turns, *data.DurationMS/1000),
			UserMessageLevel: level, SuppressOutput: true,
		}, nil
	}}, nil
}
