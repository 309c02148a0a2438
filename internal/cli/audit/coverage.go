package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// CoverageCmd is `hookctl coverage`.
type CoverageCmd struct {
	cli.Period
}

// maxCovered is the maximum number of agents that are listed; the others are only counted.
const maxCovered = 10_000

// Coverage is the JSON form of the report.
type Coverage struct {
	Since   time.Time `json:"since"`
	Agents  []covered `json:"agents"` // the ungated first
	Ungated int       `json:"ungated"`
	// Unproven are those whose connection does not prove who they are: anybody may have
	// sent their events.
	Unproven int `json:"unproven"`
	Left     int `json:"events_left_out,omitempty"` // of more agents than can be listed
}

// covered is what one agent emitted.
type covered struct {
	Agent   string         `json:"agent"`             // the CloudEvents source, as the agent claims
	Emitter string         `json:"emitter,omitempty"` // who sent the events, as the connection proves
	Proven  bool           `json:"proven"`
	Gated   bool           `json:"gated"` // whether it emitted tool:pre
	Events  map[string]int `json:"events"`
	Total   int            `json:"total"`
	Last    time.Time      `json:"last"`
	ToolPre *time.Time     `json:"last_tool_pre,omitempty"`
}

// Help describes the defaults.
func (CoverageCmd) Help() string {
	return "Without --since and --last it counts the last 24 hours, without the events of hookctl doctor."
}

// Run reads the audit log of all routers, and lists the agents in it.
func (c *CoverageCmd) Run(ctx context.Context, e *cli.Env) error {
	now := time.Now()
	if c.Since == "" && c.Last == "" {
		c.Last = "24h"
	}
	since, err := c.From(now)
	if err != nil {
		return err
	}
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	doc := Coverage{Since: since, Agents: []covered{}}
	agents := map[sender]*covered{}
	err = l.Query(ctx, query.Filter{Since: since, Kinds: []audit.Kind{audit.ChainResult}}, func(r query.Record) error {
		if r.Err == nil && r.Event != agenthook.ProbeName && !doc.count(agents, &r) {
			doc.Left++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range agents {
		doc.Agents = append(doc.Agents, *a)
		if !a.Gated {
			doc.Ungated++
		}
		if !a.Proven {
			doc.Unproven++
		}
	}
	slices.SortFunc(doc.Agents, func(a, b covered) int {
		if a.Gated != b.Gated {
			return compareGated(a.Gated)
		}
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Emitter, b.Emitter))
	})
	if e.Out.Document(doc) {
		return nil
	}
	doc.show(e.Out, now)
	return nil
}

func compareGated(gated bool) int {
	if gated {
		return 1
	}
	return -1
}

// sender is an agent's self-declared name and its emitter.
type sender struct{ agent, emitter string }

// count counts an event. It returns false if the limit of agents is reached.
func (doc *Coverage) count(agents map[sender]*covered, r *query.Record) bool {
	from := sender{r.Agent, r.Emitter}
	a := agents[from]
	if a == nil {
		if len(agents) >= maxCovered {
			return false
		}
		a = &covered{Agent: r.Agent, Emitter: r.Emitter, Proven: r.Emitter != "", Events: map[string]int{}}
		agents[from] = a
	}
	a.Events[r.Event]++
	a.Total++
	if r.Time.After(a.Last) {
		a.Last = r.Time
	}
	if r.Event == events.ToolPre && r.Action != "collect" { // collect decides nothing
		a.Gated = true
		if a.ToolPre == nil || r.Time.After(*a.ToolPre) {
			at := r.Time
			a.ToolPre = &at
		}
	}
	return true
}

// show prints the agents, and explains those without tool:pre.
func (doc *Coverage) show(out *term.Printer, now time.Time) {
	if len(doc.Agents) == 0 {
		out.Print("No event is recorded since %s. Routers with --audit=off record none.\n", doc.Since.Local().Format(time.DateTime))
		return
	}
	rows := [][]term.Cell{term.Heads("AGENT", "EMITTER", "TOOL:PRE", "EVENTS", "LAST", "WHICH")}
	for _, a := range doc.Agents {
		gate := term.Red.Cell("never")
		if a.ToolPre != nil {
			gate = term.Plain.Cell(agoOf(now, *a.ToolPre))
		}
		emitter := term.Yellow.Cell("unproven")
		if a.Proven {
			emitter = term.Plain.Cell(term.Printable(a.Emitter))
		}
		names := slices.Sorted(maps.Keys(a.Events))
		more := ""
		if len(names) > 6 {
			names, more = names[:6], fmt.Sprintf(" and %d more", len(a.Events)-6)
		}
		rows = append(rows, term.Row(term.Cyan.Cell(term.Agent(a.Agent)), emitter, gate, a.Total, agoOf(now, a.Last), term.Dim.Cell(strings.Join(names, " ")+more)))
	}
	out.Table(rows)
	if doc.Ungated > 0 {
		out.Print("\n")
		out.Fold(fmt.Sprintf("%d of %d agents never emitted tool:pre since %s: if they run tools, no hook can stop one.",
			doc.Ungated, len(doc.Agents), doc.Since.Local().Format(time.DateTime)))
	}
	if doc.Unproven > 0 && doc.Unproven < len(doc.Agents) {
		out.Print("\n%d of %d agents are unproven: anybody may have sent their events.\n", doc.Unproven, len(doc.Agents))
	}
	if doc.Left > 0 {
		out.Print("%d events of more than %d agents are left out.\n", doc.Left, maxCovered)
	}
}

// agoOf returns roughly how long ago a time was.
func agoOf(now, t time.Time) string {
	switch age := now.Sub(t); {
	case age < time.Minute:
		return "just now"
	case age < time.Hour:
		return strconv.Itoa(int(age.Minutes())) + "m ago"
	case age < 48*time.Hour:
		return strconv.Itoa(int(age.Hours())) + "h ago"
	default:
		return strconv.Itoa(int(age.Hours()/24)) + "d ago"
	}
}
