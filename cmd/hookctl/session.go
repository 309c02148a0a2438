package main

import (
	"context"
	"strconv"

	"github.com/hookrouter/hookrouter/pkg/approver"
)

type sessionCmd struct {
	Show   sessionShowCmd   `cmd:"" help:"Show what the routers remember of a session: its turn's budget, injections, and grants."`
	Revoke sessionRevokeCmd `cmd:"" help:"Take back what a session was granted by \"Allow always\"."`
	Turn   sessionTurnCmd   `cmd:"" help:"Begin a new turn: the budget for injections is whole again."`
	End    sessionEndCmd    `cmd:"" help:"End a session: what it had is forgotten."`
}

type sessionShowCmd struct {
	ID string `arg:"" help:"Id of the session."`
}

// Run shows a session.
func (c *sessionShowCmd) Run(ctx context.Context, e *env) error {
	a, closeBus, err := e.approver(ctx)
	if err != nil {
		return err
	}
	defer closeBus()
	info, err := a.Session(ctx, c.ID)
	switch {
	case err != nil:
		return err
	case e.out.json:
		e.out.document(info)
	default:
		e.showSession(info)
	}
	return nil
}

func (e *env) showSession(s approver.SessionInfo) {
	if s.Turn == 0 && s.InjectedTokens == 0 && s.Ended == "" && len(s.Injections) == 0 && len(s.Grants) == 0 {
		e.out.print("nothing is remembered of session %s\n", printable(s.ID))
		return
	}
	rows := [][]cell{
		{{"session", dim}, {printable(s.ID), bold}},
		{{"turn", dim}, {strconv.Itoa(s.Turn), plain}},
		{{"injected", dim}, {strconv.Itoa(s.InjectedTokens) + " of " + strconv.Itoa(s.Budget) + " tokens in this turn", plain}},
		{{"one injection", dim}, {"at most " + strconv.Itoa(s.SizeLimit) + " bytes", plain}},
	}
	if s.Ended != "" {
		rows = append(rows, []cell{{"ended", yellow}, {printable(s.Ended), plain}})
	}
	e.out.table(rows)
	if len(s.Injections) > 0 {
		rows := [][]cell{heads("INJECTED BY", "ON", "BYTES", "TOKENS", "TIME")}
		for _, i := range s.Injections {
			rows = append(rows, row(printable(i.Hook), printable(i.Event), strconv.Itoa(i.Bytes), strconv.Itoa(i.Tokens), printable(i.Time)))
		}
		e.out.print("\n")
		e.out.table(rows)
	}
	if len(s.Grants) > 0 {
		rows := [][]cell{heads("ALWAYS GRANTED TO", "BY", "SINCE", "PROMPT")}
		for _, g := range s.Grants {
			rows = append(rows, row(printable(g.Hook), printable(g.By), printable(g.Granted), clip(printable(g.Prompt), maxValue)))
		}
		e.out.print("\n")
		e.out.table(rows)
	}
}

type sessionRevokeCmd struct {
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
func (c *sessionRevokeCmd) Run(ctx context.Context, e *env) error {
	a, closeBus, err := e.approver(ctx)
	if err != nil {
		return err
	}
	defer closeBus()
	n, err := a.Revoke(ctx, c.ID, c.Hook, c.Prompt)
	switch {
	case err != nil:
		return err
	case e.out.json:
		e.out.document(revoked{c.ID, n})
	case n == 0:
		e.out.print("there is no such grant; `hookctl session show` lists them\n")
	default:
		e.out.print("revoked %d\n", n)
	}
	return nil
}

type sessionTurnCmd struct {
	ID string `arg:"" help:"Id of the session."`
}

// Run begins a turn.
func (c *sessionTurnCmd) Run(ctx context.Context, e *env) error {
	return e.tellSession(ctx, c.ID, "turn", "a new turn of session %s begins\n")
}

type sessionEndCmd struct {
	ID string `arg:"" help:"Id of the session."`
}

// Run ends a session.
func (c *sessionEndCmd) Run(ctx context.Context, e *env) error {
	return e.tellSession(ctx, c.ID, "end", "session %s is ended; what it had, if anything, is forgotten\n")
}

// told is the JSON form of what a session was told.
type told struct {
	Session string `json:"session_id"`
	Told    string `json:"told"` // turn or end
}

func (e *env) tellSession(ctx context.Context, id, what, text string) error {
	a, closeBus, err := e.agent(ctx, id)
	if err != nil {
		return err
	}
	defer closeBus()
	tell := a.NewTurn
	if what == "end" {
		tell = a.EndSession
	}
	switch err := tell(ctx); {
	case err != nil:
		return err
	case e.out.json:
		e.out.document(told{id, what})
	default:
		e.out.print(text, printable(id))
	}
	return nil
}
