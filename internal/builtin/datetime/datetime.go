package datetime

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options of the builtin. The zero Options tell the time of the worker's machine.
type Options struct {
	// Timezone is a name of the IANA database, such as Europe/Berlin, or UTC; empty
	// means the worker's own.
	Timezone string `json:"timezone"`
}

// Builtin is date-time.
var Builtin = builtin.Of("Tells the agent the date and the time with each prompt.",
	chain.Registration{Events: []string{events.PromptSubmit}, Priority: 20, Effect: chain.Validates, ReplaySafe: true}, New)

// New builds the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	zone := time.Local
	if o.Timezone != "" {
		var err error
		if zone, err = time.LoadLocation(o.Timezone); err != nil {
			return kind.Hook{}, kind.At("/timezone", "%q is not a time zone: give a name such as Europe/Berlin, or UTC", o.Timezone)
		}
	}
	return kind.Hook{Handler: func(ctx context.Context, _ events.Event) (chain.Result, error) {
		result := chain.Injection("Current date and time: " + kind.Now(ctx).In(zone).Format("Monday, "+time.RFC3339))
		result.Ephemeral, result.SuppressOutput = true, true
		return result, nil
	}}, nil
}
