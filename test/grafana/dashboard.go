package grafana

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Dashboard is what the checks read of a dashboard.
type Dashboard struct {
	Title, UID string
	Panels     []Panel
	Templating struct{ List []Variable }
}

// Variable is one that stands above the panels.
type Variable struct {
	Name, Type string
	Query      json.RawMessage
	Definition string
	Datasource *Source
}

// Source is where data comes from.
type Source struct{ Type, UID string }

// Panel is a panel, or the title of a row.
type Panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               *Source
	Targets                  []Target
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Options                  struct{ YAxis struct{ Unit string } }
}

// Target is a query of a panel.
type Target struct {
	RefID, Expr string
	Datasource  *Source
}

// columns is the width of Grafana's grid.
const columns = 24

// source is the variable that every query asks.
const source = "${datasource}"

// Drawn says what of a dashboard Grafana can't draw, or a reader can't read.
func Drawn(d *Dashboard) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if d.Title == "" || d.UID == "" {
		say("the dashboard has no title or no uid")
	}
	ids, taken := map[int]string{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if other, ok := ids[p.ID]; ok || p.ID == 0 {
			say("%q has the id %d of %q", p.Title, p.ID, other)
		}
		ids[p.ID] = p.Title
		g := p.GridPos
		if g.X < 0 || g.W <= 0 || g.H <= 0 || g.X+g.W > columns {
			say("%q does not stand in the grid", p.Title)
			continue
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok && other != p.Title {
					say("%q stands upon %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" && p.Options.YAxis.Unit == "" {
			say("the panel %d (%q) has no title, description or unit", p.ID, p.Title)
		}
		if len(p.Targets) == 0 {
			say("%q asks for nothing", p.Title)
		}
		if p.Datasource == nil || p.Datasource.UID != source {
			say("%q does not ask %s", p.Title, source)
		}
		refs := map[string]bool{}
		for _, t := range p.Targets {
			if refs[t.RefID] || t.RefID == "" {
				say("%q has two queries %q", p.Title, t.RefID)
			}
			refs[t.RefID] = true
			if t.Datasource == nil || t.Datasource.UID != source {
				say("the query %s of %q does not ask %s", t.RefID, p.Title, source)
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" && (v.Datasource == nil || v.Datasource.UID != source) {
			say("the variable %s does not ask %s", v.Name, source)
		}
	}
	return wrong
}

// filled makes PromQL of what Grafana sends once it has put its variables in.
var filled = strings.NewReplacer("$__rate_interval", "2m", "$namespace", ".*", "$job", ".*")

// Expressions are all that a dashboard asks, by where it stands.
func (d *Dashboard) Expressions() map[string]string {
	all := map[string]string{}
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			all[fmt.Sprintf("panel %d %q, %s", p.ID, p.Title, t.RefID)] = filled.Replace(t.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if rest, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			selector := rest[:strings.LastIndex(rest, ",")]
			all["variable "+v.Name] = filled.Replace(selector)
		}
	}
	return all
}
