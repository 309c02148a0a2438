package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// NewTurn begins a new turn of the agent's session, for an agent that emits no prompt:submit or
// execution:start. It resets the injection budget. No hook is called.
func (a *Agent) NewTurn(ctx context.Context) error { return a.sendSession(ctx, "turn") }

// EndSession ends the agent's session, for an agent that emits no session:end. Its budget and
// its "Allow always" are forgotten. No hook is called.
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
