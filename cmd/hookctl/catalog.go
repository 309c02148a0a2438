package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

type eventsCmd struct {
	Name string `arg:"" optional:"" help:"One event, by any of its names."`
}

// eventInfo is the JSON form of an event in the list.
type eventInfo struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Summary string   `json:"summary"`
	Fields  []string `json:"fields"`
}

// Run shows the catalogue.
func (c *eventsCmd) Run(_ context.Context, e *env) error {
	if c.Name != "" {
		return c.one(e)
	}
	list := []eventInfo{}
	rows := [][]cell{heads("EVENT", "WHEN")}
	for _, info := range events.Catalog() {
		doc := eventInfo{Name: info.Name, Aliases: info.Aliases, Summary: info.Summary}
		for _, f := range info.Fields {
			doc.Fields = append(doc.Fields, f.Name)
		}
		list = append(list, doc)
		summary := info.Summary
		if len(info.Aliases) > 0 {
			summary += " Also " + strings.Join(info.Aliases, ", ") + "."
		}
		rows = append(rows, []cell{{info.Name, cyan}, {summary, plain}})
	}
	if e.out.json {
		e.out.document(list)
		return nil
	}
	e.out.table(rows)
	return nil
}

func (c *eventsCmd) one(e *env) error {
	if err := events.CheckName(c.Name); err != nil {
		return err
	}
	schema, ok := events.Schema(c.Name)
	if !ok {
		return fmt.Errorf("show event %s: it is no standard event: it may be emitted, and its data is free-form; `hookctl events` lists the standard ones", c.Name)
	}
	if e.out.json {
		e.out.document(json.RawMessage(schema))
		return nil
	}
	for _, info := range events.Catalog() {
		if info.Name == events.Canonical(c.Name) {
			e.out.showEvent(info)
		}
	}
	return nil
}

func (p *printer) showEvent(info events.Info) {
	p.print("%s  %s\n", p.paint(bold, info.Name), info.Summary)
	if len(info.Aliases) > 0 {
		p.print("also %s\n", strings.Join(info.Aliases, ", "))
	}
	p.print("\n")
	rows := [][]cell{heads("FIELD", "TYPE", "MEANING")}
	for _, f := range info.Fields {
		meaning := f.Description
		if len(f.Values) > 0 {
			meaning += " (" + strings.Join(f.Values, ", ") + ")"
		}
		rows = append(rows, []cell{{f.Name, cyan}, {string(f.Type), plain}, {meaning, plain}})
	}
	p.table(rows)
}
