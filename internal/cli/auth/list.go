package auth

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/identity"
)

type listCmd struct {
	directory
}

// Run lists the identities.
func (c *listCmd) Run(e *cli.Env) error {
	a, err := identity.Open(c.path(e))
	if err != nil {
		return explained(err)
	}
	list := a.Identities()
	if e.Out.Document(list) {
		return nil
	}
	rows := [][]term.Cell{term.Heads("NAME", "ROLE", "STATE", "MAY")}
	for _, i := range list {
		color, text := state(i)
		rows = append(rows, []term.Cell{
			term.Plain.Cell(i.Name), term.Plain.Cell(string(i.Role)), color.Cell(text), term.Plain.Cell(may(i)),
		})
	}
	e.Out.Table(rows)
	return nil
}

// state returns whether credentials are valid, and the color of that state.
func state(i identity.Identity) (term.Color, string) {
	switch {
	case !i.Revoked.IsZero():
		return term.Red, "revoked"
	case i.Expires.IsZero():
		return term.Green, "valid"
	case time.Now().After(i.Expires):
		return term.Red, "expired"
	}
	return term.Green, "until " + i.Expires.Local().Format("2006-01-02 15:04")
}

// what describes each role.
var what = map[identity.Role]string{
	identity.Agent: "send events", identity.Approver: "answer approval requests", identity.Operator: "see everything, remove hooks, freeze",
	identity.Admin: "everything that routers offer",
	identity.State: "keep what hooks remember", identity.Keeper: "read, rotate and remove the audit log", identity.Router: "be a router",
	identity.Auditor: "read a mirror of the audit log", identity.Witness: "read a mirror of the audit log, and co-sign", identity.Archive: "make the mirrors",
	identity.System: "hand accounts to the NATS server",
}

// overHTTP returns whether an agent has a token for the HTTP API, and when it expires.
func overHTTP(i identity.Identity) string {
	text := ""
	switch {
	case i.HTTP == nil || !i.Revoked.IsZero():
		return ""
	case i.User != "":
		text = "; also over HTTP"
	default:
		text = "; only over HTTP"
	}
	switch end := i.HTTP.Expires; {
	case end.IsZero():
		return text
	case time.Now().After(end):
		return text + ", whose token expired"
	default:
		return text + ", until " + end.Local().Format("2006-01-02 15:04")
	}
}

// may describes what an identity may do, on one line.
func may(i identity.Identity) string {
	if i.Role != identity.Worker {
		return what[i.Role] + overHTTP(i)
	}
	parts := []string{"answer for " + strings.Join(i.Hooks, ", ")}
	if l := i.May; l != nil {
		if len(l.Events) > 0 {
			parts = append(parts, "on "+strings.Join(l.Events, ", "))
		}
		if l.Priority != nil {
			parts = append(parts, fmt.Sprintf("at %d..%d", l.Priority.Min, l.Priority.Max))
		}
		if l.Actions != nil {
			actions := make([]string, len(l.Actions))
			for n, action := range l.Actions {
				actions[n] = string(action)
			}
			parts = append(parts, "with "+cmp.Or(strings.Join(actions, ", "), "continue and deny only"))
		}
		if len(l.Fields) > 0 {
			parts = append(parts, "sees "+strings.Join(l.Fields, ", "))
		}
		if l.TimeoutMS > 0 {
			parts = append(parts, fmt.Sprintf("within %v", time.Duration(l.TimeoutMS)*time.Millisecond))
		}
	}
	return strings.Join(parts, "; ")
}
