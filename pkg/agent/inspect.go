package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ListHandlers returns hook names by the pattern they registered, in execution order. A pattern
// selects the hooks that registered exactly that pattern; empty means all.
func (a *Agent) ListHandlers(ctx context.Context, pattern string) (map[string][]string, error) {
	subject := a.conn.Transport.Of("handlers")
	if pattern != "" {
		if err := events.CheckPattern(pattern); err != nil {
			return nil, err
		}
		subject = a.conn.Transport.Event("handlers", pattern)
	}
	var handlers map[string][]string
	err := a.inspect(ctx, subject, nil, nil, &handlers)
	return handlers, err
}

// Listing is one registration with its live instances.
type Listing struct {
	chain.Registration
	Order     uint64 `json:"order"`
	Revision  uint64 `json:"revision"`
	Instances []struct {
		Instance string `json:"instance"`
		Version  string `json:"version,omitempty"`
	} `json:"instances"`
	// Disabled is set if an operator disabled the hook; nil if not.
	Disabled *Disabled `json:"disabled,omitempty"`
}

// Disabled is an operator's order to skip a hook.
type Disabled struct {
	By     string    `json:"by,omitempty"` // the operator, if the connection proves an identity
	Reason string    `json:"reason,omitempty"`
	Time   time.Time `json:"time"`
}

// Registry returns all registrations with their defaults, in execution order.
func (a *Agent) Registry(ctx context.Context) ([]Listing, error) {
	var list []Listing
	err := a.inspect(ctx, a.conn.Transport.Of("registry"), nil, nil, &list)
	return list, err
}

// Explanation describes one hook that would run for an event.
type Explanation = chain.Explanation

// Explained describes the chain that an event would run through.
type Explained struct {
	// Hooks are in execution order.
	Hooks []Explanation `json:"hooks"`
	// ChainTimeoutMS bounds the whole chain, and WorstMS is the longest that its hooks may take.
	// Both are in milliseconds; 0 if the router does not report them.
	ChainTimeoutMS int64 `json:"chain_timeout_ms,omitempty"`
	WorstMS        int64 `json:"worst_ms,omitempty"`
	// Warnings describe time-outs that contradict each other; nil if there are none.
	Warnings []string `json:"warnings,omitempty"`
}

// Explain returns the hooks that would run for an event, in order, without calling them.
func (a *Agent) Explain(ctx context.Context, event string, data any) ([]Explanation, error) {
	x, err := a.ExplainChain(ctx, event, data)
	return x.Hooks, err
}

// ExplainChain is like Explain but also returns the chain's time-outs and warnings about them.
func (a *Agent) ExplainChain(ctx context.Context, event string, data any) (x Explained, err error) {
	header, body, err := a.event(ctx, event, data)
	if err != nil {
		return x, err
	}
	err = a.inspect(ctx, a.conn.Transport.Event("explain", event), header, body, &x)
	return x, err
}

func (a *Agent) inspect(ctx context.Context, subject string, header wire.Header, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if _, err := a.conn.RequestJSON(ctx, clientconn.Request{Subject: subject, Header: header, Body: body}, nil, into); err != nil {
		return fmt.Errorf("ask for %s: %w", strings.TrimPrefix(subject, a.conn.Transport.Prefix()+"."), err)
	}
	return nil
}
