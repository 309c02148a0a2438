package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type collectCmd struct {
	eventArgs
	Timeout time.Duration `placeholder:"DURATION" help:"Time for each hook; default: the router's, 1s."`
}

// Run collects from the hooks of an event.
func (c *collectCmd) Run(ctx context.Context, e *env) error {
	data, err := c.data(e.stdin)
	if err != nil {
		return err
	}
	if err := checkTimeout(c.Timeout); err != nil {
		return err
	}
	if err := events.CheckName(c.Event); err != nil {
		return err
	}
	a, closeBus, err := e.agent(ctx, c.Session)
	if err != nil {
		return err
	}
	defer closeBus()
	got, err := a.EmitAndCollect(ctx, c.Event, data, c.Timeout)
	if err != nil {
		return err
	}
	e.showCollection(got)
	return nil
}

type contributionsCmd struct {
	Channel string        `arg:"" help:"Name of the channel, such as observability.events."`
	Timeout time.Duration `placeholder:"DURATION" help:"Time for each contributor; default: the router's, 1s."`
}

// Run collects from the contributors of a channel.
func (c *contributionsCmd) Run(ctx context.Context, e *env) error {
	if err := checkTimeout(c.Timeout); err != nil {
		return err
	}
	if err := events.CheckChannel(c.Channel); err != nil {
		return err
	}
	a, closeBus, err := e.agent(ctx, "")
	if err != nil {
		return err
	}
	defer closeBus()
	got, err := a.CollectContributions(ctx, c.Channel, c.Timeout)
	if err != nil {
		return err
	}
	e.showCollection(got)
	return nil
}

// collected is the JSON form of a collection.
type collected struct {
	Values  []given  `json:"values"`
	Missing []string `json:"missing,omitempty"`
}

type given struct {
	From  string          `json:"from"`
	Value json.RawMessage `json:"value"`
}

func (e *env) showCollection(got agent.Collection) {
	doc := collected{Values: []given{}, Missing: got.Missing}
	for i, value := range got.Values {
		from := ""
		if i < len(got.From) {
			from = got.From[i]
		}
		doc.Values = append(doc.Values, given{from, value})
	}
	if e.out.json {
		e.out.document(doc)
		return
	}
	if len(doc.Values)+len(doc.Missing) == 0 {
		e.out.print("nobody gave anything; `hookctl registry` lists who is there\n")
		return
	}
	rows := [][]cell{heads("FROM", "VALUE")}
	for _, g := range doc.Values {
		rows = append(rows, row(g.From, string(g.Value)))
	}
	e.out.table(rows)
	if len(doc.Missing) > 0 {
		e.out.print("%s %s\n", e.out.paint(yellow, "failed, or not in time:"), clean(strings.Join(doc.Missing, ", ")))
	}
}

func checkTimeout(d time.Duration) error {
	if d != 0 && d < time.Millisecond {
		return fmt.Errorf("use --timeout %s: at least 1ms is needed", d)
	}
	return nil
}
