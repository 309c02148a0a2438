package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type emitCmd struct {
	eventArgs
	Default []string      `sep:"none" placeholder:"KEY=VALUE" help:"Field that is merged below the data. Repeatable."`
	Timeout time.Duration `placeholder:"DURATION" help:"Time for the whole chain; default: the router's, 30s."`
}

// emitted is the JSON form of an answer.
type emitted struct {
	Event      string       `json:"event"`
	EventID    string       `json:"event_id"`
	ChainID    string       `json:"chain_id"`
	Hooks      int          `json:"hooks"` // that were called
	DeniedBy   string       `json:"denied_by,omitempty"`
	FailedOpen []string     `json:"failed_open,omitempty"`
	Changes    []change     `json:"changes,omitempty"`
	Result     chain.Result `json:"result"`
}

// Run emits the event.
func (c *emitCmd) Run(ctx context.Context, e *env) error {
	data, err := c.data(e.stdin)
	if err != nil {
		return err
	}
	fields, err := defaults(c.Default)
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
	if err := a.SetDefaultFields(fields); err != nil {
		return fmt.Errorf("use --default: %w", err)
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	answer, err := a.Emit(ctx, c.Event, data)
	if err != nil {
		return err
	}
	var diff []change
	if answer.Hooks > 0 && !answer.Denied() {
		diff = c.changes(answer.Data, data, fields)
	}
	e.showAnswer(c.Event, answer, diff)
	return nil
}

// changes are what the hooks made of the data that was sent; there are none
// where there is no data. The router's own merging of defaults and its stamp are
// not among them.
func (a eventArgs) changes(made, sent json.RawMessage, fields map[string]any) []change {
	if made == nil {
		return nil
	}
	below := map[string]any{}
	if a.Session != "" {
		below["session_id"] = a.Session
	}
	maps.Copy(below, fields)
	base, err := json.Marshal(below)
	if err != nil {
		return nil
	}
	before, _ := parseObject(base)
	over, _ := parseObject(sent)
	for _, m := range over {
		before = before.with(m.name, m.value)
	}
	after, _ := parseObject(made)
	return changes(before.without("timestamp").text(), after.without("timestamp").text())
}
