package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// NewTurn begins a new turn of the agent's session and resets its injection budget, without calling
// hooks. It is for agents that emit neither prompt:submit nor execution:start.
func (a *Agent) NewTurn(ctx context.Context) error { return a.sendSession(ctx, "turn") }

// EndSession ends the agent's session, without calling hooks, and discards its injection budget and
// its "Allow always" grants. It is for agents that do not emit session:end.
func (a *Agent) EndSession(ctx context.Context) error { return a.sendSession(ctx, "end") }

func (a *Agent) sendSession(ctx context.Context, what string) error {
	if a.options.Session == "" {
		return errors.New("session " + what + ": the agent has no session: set its id in the options")
	}
	body, err := json.Marshal(map[string]string{"session_id": a.options.Session})
	if err != nil {
		return fmt.Errorf("session %s: %w", what, err)
	}
	return a.inspect(ctx, a.conn.Transport.Of("session", what), nil, body, &struct{}{})
}
