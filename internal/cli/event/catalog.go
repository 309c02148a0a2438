package event

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// CatalogCmd is `hookctl events`.
type CatalogCmd struct {
	Name string `arg:"" optional:"" help:"One event, by any of its names."`
}

// EventInfo is the JSON form of an event in the list.
type EventInfo struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Summary string   `json:"summary"`
	Fields  []string `json:"fields"`
}

// Run shows the catalog, or one event of it.
func (c *CatalogCmd) Run(_ context.Context, e *cli.Env) error {
	if c.Name != "" {
		return c.one(e)
	}
	list := []EventInfo{}
	rows := [][]term.Cell{term.Heads("EVENT", "WHEN")}
	for _, info := range events.Catalog() {
		doc := EventInfo{Name: info.Name, Aliases: info.Aliases, Summary: info.Summary}
		for _, f := range info.Fields {
			doc.Fields = append(doc.Fields, f.Name)
		}
		list = append(list, doc)
		summary := info.Summary
		if len(info.Aliases) > 0 {
			summary += " Also " + strings.Join(info.Aliases, ", ") + "."
		}
		rows = append(rows, []term.Cell{term.Cyan.Cell(info.Name), term.Plain.Cell(summary)})
	}
	if e.Out.Document(list) {
		return nil
	}
	e.Out.Table(rows)
	return nil
}

func (c *CatalogCmd) one(e *cli.Env) error {
	if err := events.CheckName(c.Name); err != nil {
		return err
	}
	schema, ok := events.Schema(c.Name)
	if !ok {
		e.CheckSpelling(c.Name)
		return fmt.Errorf("show event %s: it is not a standard event: it may be emitted, and its data is free-form; `hookctl events` lists the standard ones", c.Name)
	}
	if e.Out.Document(json.RawMessage(schema)) {
		return nil
	}
	for _, info := range events.Catalog() {
		if info.Name == events.Canonical(c.Name) {
			showEvent(e.Out, info)
		}
	}
	return nil
}

func showEvent(p *term.Printer, info events.Info) {
	p.Print("%s  %s\n", p.Paint(term.Bold, info.Name), info.Summary)
	if len(info.Aliases) > 0 {
		p.Print("also %s\n", strings.Join(info.Aliases, ", "))
	}
	p.Print("\n")
	rows := [][]term.Cell{term.Heads("FIELD", "TYPE", "MEANING")}
	for _, f := range info.Fields {
		meaning := f.Description
		if len(f.Values) > 0 {
			meaning += " (" + strings.Join(f.Values, ", ") + ")"
		}
		rows = append(rows, []term.Cell{term.Cyan.Cell(f.Name), term.Plain.Cell(string(f.Type)), term.Plain.Cell(meaning)})
	}
	p.Table(rows)
}
