package approvals

import (
	"cmp"
	"context"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type grantsCmd struct {
	Agent string `placeholder:"NAME" help:"Only those of this agent, as records name it, such as \"nats agent/coder\"."`
}

// granted is the JSON form of the list.
type granted struct {
	Grants []approver.Grant `json:"grants"`
}

// Run lists grants.
func (c *grantsCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	list, err := a.Grants(ctx, c.Agent)
	switch {
	case err != nil:
		return err
	case e.Out.Document(granted{append([]approver.Grant{}, list...)}):
		return nil
	case len(list) == 0:
		e.Out.Print("nothing is always allowed beyond a session\n")
		return nil
	}
	rows := [][]term.Cell{term.Heads("ID", "SCOPE", "AGENT", "ROOT", "HOOK", "TOOL", "BY", "EXPIRES", "PROMPT")}
	for _, g := range list {
		rows = append(rows, term.Row(term.Cyan.Cell(term.Printable(g.ApprovalID)), term.Printable(g.Scope), term.Agent(g.Agent), term.OrDash(term.Printable(g.Root)),
			term.Printable(g.Hook), term.OrDash(term.Printable(g.Tool)), term.Printable(g.By), term.Printable(cmp.Or(g.Expires, "never")), term.Clip(term.OneLine(g.Prompt), term.MaxValue)))
	}
	e.Out.Table(rows)
	return nil
}

type revokeCmd struct {
	ID string `arg:"" help:"Id of the approval, as approvals grants shows it."`
}

// revoked is the JSON form of a revocation.
type revoked struct {
	ID      string `json:"approval_id"`
	Revoked bool   `json:"revoked"`
}

// Run revokes a grant.
func (c *revokeCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	ok, err := a.RevokeGrant(ctx, c.ID)
	switch {
	case err != nil:
		return err
	case e.Out.Document(revoked{c.ID, ok}):
	case ok:
		e.Out.Print("revoked\n")
	default:
		e.Out.Print("there is no such grant; `hookctl approvals grants` lists them, and `hookctl session show` those of a session\n")
	}
	return nil
}
