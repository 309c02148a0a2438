package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

// Cmd has the commands of `hookctl session`.
type Cmd struct {
	Show   showCmd   `cmd:"" help:"Show a session's state: turn, budget, injections and grants."`
	Revoke revokeCmd `cmd:"" help:"Revoke what a session was granted by \"Allow always\"."`
	Turn   turnCmd   `cmd:"" help:"Begin a new turn, which resets the injection budget."`
	End    endCmd    `cmd:"" help:"End a session and delete its state; with --agent that of another agent."`
}

type showCmd struct {
	ID    string `arg:"" help:"Id of the session."`
	Agent string `placeholder:"NAME" help:"Whose session, where several agents use the id: as records name it, such as 'nats agent/coder'."`
}

// Run shows a session.
func (c *showCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	info, err := a.SessionOf(ctx, c.Agent, c.ID)
	switch {
	case err != nil:
		return err
	case e.Out.Document(info):
	default:
		showSession(e, info)
	}
	return nil
}

func showSession(e *cli.Env, s approver.SessionInfo) {
	if s.Turn == 0 && s.InjectedTokens == 0 && s.Ended == "" && len(s.Injections) == 0 && len(s.Grants) == 0 && len(s.Labels) == 0 && s.Root == "" {
		e.Out.Print("nothing is remembered of session %s\n", term.Printable(s.ID))
		return
	}
	rows := [][]term.Cell{
		{term.Dim.Cell("session"), term.Bold.Cell(term.Printable(s.ID))},
		{term.Dim.Cell("turn"), term.Plain.Cell(strconv.Itoa(s.Turn))},
		{term.Dim.Cell("injected"), term.Plain.Cell(strconv.Itoa(s.InjectedTokens) + " of " + strconv.Itoa(s.Budget) + " tokens in this turn")},
		{term.Dim.Cell("one injection"), term.Plain.Cell("at most " + strconv.Itoa(s.SizeLimit) + " bytes")},
	}
	if s.Agent != "" {
		rows = append(rows, []term.Cell{term.Dim.Cell("agent"), term.Plain.Cell(term.Agent(s.Agent))})
	}
	if len(s.Labels) > 0 {
		rows = append(rows, []term.Cell{term.Dim.Cell("labels"), term.Yellow.Cell(term.Printable(strings.Join(s.Labels, ", ")))})
	}
	if s.Root != "" {
		rows = append(rows, []term.Cell{term.Dim.Cell("below"), term.Plain.Cell(term.Printable(s.Parent) + ", in the tree of " + term.Printable(s.Root))})
	}
	if s.Ended != "" {
		rows = append(rows, []term.Cell{term.Yellow.Cell("ended"), term.Plain.Cell(term.Printable(s.Ended))})
	}
	e.Out.Table(rows)
	if len(s.Injections) > 0 {
		rows := [][]term.Cell{term.Heads("INJECTED BY", "ON", "BYTES", "TOKENS", "TIME")}
		for _, i := range s.Injections {
			rows = append(rows, term.Row(term.Printable(i.Hook), term.Printable(i.Event), strconv.Itoa(i.Bytes), strconv.Itoa(i.Tokens), term.Printable(i.Time)))
		}
		e.Out.Print("\n")
		e.Out.Table(rows)
	}
	if len(s.Grants) > 0 {
		rows := [][]term.Cell{term.Heads("ALWAYS GRANTED TO", "BY", "SINCE", "PROMPT")}
		for _, g := range s.Grants {
			rows = append(rows, term.Row(term.Printable(g.Hook), term.Printable(g.By), term.Printable(g.Granted), term.Clip(term.Printable(g.Prompt), term.MaxValue)))
		}
		e.Out.Print("\n")
		e.Out.Table(rows)
	}
}

type revokeCmd struct {
	ID     string `arg:"" help:"Id of the session."`
	Hook   string `placeholder:"NAME" help:"Only grants to this hook."`
	Prompt string `placeholder:"TEXT" help:"Only grants for exactly this prompt."`
}

// revoked is the JSON form of what was revoked.
type revoked struct {
	Session string `json:"session_id"`
	Revoked int    `json:"revoked"`
}

// Run revokes grants.
func (c *revokeCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	n, err := a.Revoke(ctx, c.ID, c.Hook, c.Prompt)
	switch {
	case err != nil:
		return err
	case e.Out.Document(revoked{c.ID, n}):
	case n == 0:
		e.Out.Print("there is no such grant; `hookctl session show` lists them\n")
	default:
		e.Out.Print("revoked %d\n", n)
	}
	return nil
}

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

// Help is the rest of the help.
func (c *endCmd) Help() string {
	return "No hook is called. What was always allowed in the session is forgotten, and nothing that was approved in it is permitted again. " +
		"The agent may go on under the same id, and an approval request that is open may still be answered: to stop an agent, freeze it."
}

// Run ends a session.
func (c *endCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Agent != "" {
		return closeSession(ctx, e, c.Agent, c.ID)
	}
	return tellSession(ctx, e, c.ID, "end", "session %s is ended; what it had, if anything, is forgotten\n")
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
