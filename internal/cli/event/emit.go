package event

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// EmitCmd is `hookctl emit`.
type EmitCmd struct {
	emitArgs
	Timeout time.Duration `placeholder:"DURATION" help:"Time for the whole chain; default: the router's, 30s."`
}

// emitted is the JSON form of an answer.
type emitted struct {
	Event      string            `json:"event"`
	EventID    string            `json:"event_id"`
	ChainID    string            `json:"chain_id"`
	Hooks      int               `json:"hooks"` // that were called
	DeniedBy   string            `json:"denied_by,omitempty"`
	FailedOpen []string          `json:"failed_open,omitempty"`
	Changes    []jsonedit.Change `json:"changes,omitempty"`
	Result     chain.Result      `json:"result"`
}

// Help describes the output.
func (c *EmitCmd) Help() string { return exactJSON }

// exactJSON describes the two output formats.
const exactJSON = "Text output masks secrets, as the console does. JSON output is exact: it is for the program that acts on it."

// Run emits the event.
func (c *EmitCmd) Run(ctx context.Context, e *cli.Env) error {
	if err := cli.CheckTimeout(c.Timeout); err != nil {
		return err
	}
	a, err := c.open(ctx, e, agent.Options{})
	if err != nil {
		return err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	answer, err := a.Emit(ctx, c.Event, c.sent)
	if err != nil {
		return err
	}
	var diff []jsonedit.Change
	if answer.Hooks > 0 && !answer.Denied() {
		diff = c.changes(answer.Data)
	}
	showAnswer(e, c.Event, answer, diff, labels(ctx, e, answer.ChainID))
	return nil
}

// changes returns what the hooks changed in the data that was sent, without the router's defaults
// and stamp. It returns nil if there is no data.
func (a emitArgs) changes(made json.RawMessage) []jsonedit.Change {
	if made == nil {
		return nil
	}
	below := map[string]any{}
	if a.Session != "" {
		below["session_id"] = a.Session
	}
	maps.Copy(below, a.fields)
	base, err := json.Marshal(below)
	if err != nil {
		return nil
	}
	before, _ := jsonedit.ParseObject(base)
	over, _ := jsonedit.ParseObject(a.sent)
	for _, m := range over {
		before = before.With(m.Name, m.Value)
	}
	after, _ := jsonedit.ParseObject(made)
	return jsonedit.Changes(before.Without("timestamp").Text(), after.Without("timestamp").Text())
}
