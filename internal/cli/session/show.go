package session

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

// Cmd is `hookctl session`.
type Cmd struct {
	Show   showCmd   `cmd:"" help:"Show a session's state: turn, budget, injections and grants."`
	Revoke revokeCmd `cmd:"" help:"Revoke what a session was granted by \"Allow always\"."`
	Turn   turnCmd   `cmd:"" help:"Begin a new turn, which resets the injection budget."`
	End    endCmd    `cmd:"" help:"End a session and delete its state; with --agent that of another agent."`
}

type showCmd struct {
	ID    string `arg:"" help:"Id of the session."`
	Agent string `placeholder:"NAME" help:"Whose session, where several agents use the id: coder, or as records name it, such as 'nats agent/coder'."`
}

// Run shows a session.
func (c *showCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	info, err := a.SessionOf(ctx, c.Agent, c.ID)
	if err == nil && info.Agent != "" {
		err = addWider(ctx, a, &info)
	}
	switch {
	case err != nil:
		return err
	case e.Out.Document(info):
	default:
		showSession(e, info)
	}
	return nil
}

// addWider adds the grants of the session's agent and of its session tree.
func addWider(ctx context.Context, a *approver.Approver, info *approver.SessionInfo) error {
	list, err := a.Grants(ctx, info.Agent)
	for _, g := range list {
		if g.Scope != approval.ScopeLineage || g.Root == cmp.Or(info.Root, info.ID) {
			info.Grants = append(info.Grants, g)
		}
	}
	return err
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
		rows := [][]term.Cell{term.Heads("ALWAYS GRANTED TO", "FOR THE", "BY", "SINCE", "UNTIL", "PROMPT")}
		for _, g := range s.Grants {
			rows = append(rows, term.Row(term.Printable(g.Hook), term.Printable(cmp.Or(g.Scope, approval.ScopeSession)), term.Printable(g.By), term.Printable(g.Granted),
				term.Printable(cmp.Or(g.Expires, "its end")), term.Clip(term.Printable(g.Prompt), term.MaxValue)))
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

// revoked is the JSON form of the result.
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
