package event

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// CollectCmd is `hookctl collect`.
type CollectCmd struct {
	eventArgs
	Timeout time.Duration `placeholder:"DURATION" help:"Time for each hook; default: the router's, 1s."`
}

// Run collects the hooks' answers to an event.
func (c *CollectCmd) Run(ctx context.Context, e *cli.Env) error {
	if err := cli.CheckTimeout(c.Timeout); err != nil {
		return err
	}
	a, data, err := c.open(ctx, e, agent.Options{})
	if err != nil {
		return err
	}
	got, err := a.EmitAndCollect(ctx, c.Event, data, c.Timeout)
	if err != nil {
		return err
	}
	showCollection(e, got)
	return nil
}

// ContributionsCmd is `hookctl contributions`.
type ContributionsCmd struct {
	Channel string        `arg:"" help:"Name of the channel, such as observability.events."`
	Timeout time.Duration `placeholder:"DURATION" help:"Time for each contributor; default: the router's, 1s."`
}

// Run collects the values of a channel's contributors.
func (c *ContributionsCmd) Run(ctx context.Context, e *cli.Env) error {
	if err := cli.CheckTimeout(c.Timeout); err != nil {
		return err
	}
	if err := events.CheckChannel(c.Channel); err != nil {
		return err
	}
	a, err := e.Agent(ctx, agent.Options{})
	if err != nil {
		return err
	}
	got, err := a.CollectContributions(ctx, c.Channel, c.Timeout)
	if err != nil {
		return err
	}
	showCollection(e, got)
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

func showCollection(e *cli.Env, got agent.Collection) {
	doc := collected{Values: []given{}, Missing: got.Missing}
	for i, value := range got.Values {
		from := ""
		if i < len(got.From) {
			from = got.From[i]
		}
		doc.Values = append(doc.Values, given{from, value})
	}
	if e.Out.Document(doc) {
		return
	}
	if len(doc.Values)+len(doc.Missing) == 0 {
		e.Out.Print("nobody gave anything; `hookctl registry` lists who is there\n")
		return
	}
	rows := [][]term.Cell{term.Heads("FROM", "VALUE")}
	for _, g := range doc.Values {
		rows = append(rows, term.Row(g.From, string(cli.MaskedJSON("", g.Value))))
	}
	e.Out.Table(rows)
	if len(doc.Missing) > 0 {
		e.Out.Print("%s %s\n", e.Out.Paint(term.Yellow, "failed, or not in time:"), term.Clean(strings.Join(doc.Missing, ", ")))
	}
}
