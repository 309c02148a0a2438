package session

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/agent"
)

type turnCmd struct {
	ID string `arg:"" help:"Id of the session."`
}

// Run begins a turn.
func (c *turnCmd) Run(ctx context.Context, e *cli.Env) error {
	return tellSession(ctx, e, c.ID, "turn", "a new turn of session %s begins\n")
}

type endCmd struct {
	ID    string `arg:"" help:"Id of the session."`
	Agent string `placeholder:"NAME" help:"End the session of this agent, with the rights of an operator: coder, or as records name it, such as 'nats agent/coder'. Default: your own."`
}

// Help describes the effect.
func (c *endCmd) Help() string {
	return "No hook is called. What was always allowed in the session is forgotten, and nothing that was approved in it is permitted again. " +
		"The agent may go on under the same id, and an approval request that is open may still be answered: to stop an agent, freeze it."
}

// Run ends a session.
func (c *endCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Agent != "" {
		return closeSession(ctx, e, c.Agent, c.ID)
	}
	return tellSession(ctx, e, c.ID, "end", "your session %s is ended; what it had, if anything, is forgotten\n--agent NAME ends the session of another agent\n")
}

// notified is the JSON form of a notification.
type notified struct {
	Session string `json:"session_id"`
	Told    string `json:"told"`            // turn or end
	Agent   string `json:"agent,omitempty"` // whose session it is, where it is another's
}

// closeSession ends a session of another agent.
func closeSession(ctx context.Context, e *cli.Env, agent, id string) error {
	client, err := e.Client(ctx)
	if err != nil {
		return err
	}
	conn := clientconn.Of(client)
	var done struct {
		Agent string `json:"agent,omitempty"`
	}
	body := map[string]string{"session_id": id, "agent": agent}
	if _, err = conn.RequestJSON(ctx, clientconn.Request{Subject: conn.Transport.Of("session", "close")}, body, &done); err != nil {
		return fmt.Errorf("end session %s of %s: %w", term.Printable(id), term.Printable(agent), err)
	}
	if !e.Out.Document(notified{id, "end", done.Agent}) {
		e.Out.Print("session %s of %s is ended; what it had is forgotten\n", term.Printable(id), term.Printable(done.Agent))
	}
	return nil
}

func tellSession(ctx context.Context, e *cli.Env, id, what, text string) error {
	a, err := e.Agent(ctx, agent.Options{Session: id})
	if err != nil {
		return err
	}
	tell := a.NewTurn
	if what == "end" {
		tell = a.EndSession
	}
	switch err := tell(ctx); {
	case err != nil:
		return err
	case e.Out.Document(notified{Session: id, Told: what}):
	default:
		e.Out.Print(text, term.Printable(id))
	}
	return nil
}
