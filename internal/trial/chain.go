package trial

import (
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/match"
)

// Chain is the hooks of a file as a router has them when all are registered, in the
// order of the file.
type Chain struct {
	table *chain.Table
	may   map[string]bool
}

// NewChain makes a chain of a file. may says which hooks may be called; shadows makes
// those in mode shadow count as if they were enforced.
func NewChain(file *hookfile.File, may func(hookfile.Hook) bool, shadows bool) (*Chain, error) {
	c := &Chain{&chain.Table{}, map[string]bool{}}
	for i, h := range file.Hooks {
		link := &chain.Link{Registration: h.Registration, Order: uint64(i + 1), Hook: h.Handler} //nolint:gosec // small
		if link.Mode == chain.Shadow && shadows {
			link.Mode = chain.Enforce
		}
		if h.Registration.Match != "" {
			program, err := match.Compile(h.Registration.Match)
			if err != nil {
				return nil, fmt.Errorf("hook %q: %w", h.Registration.ID, err)
			}
			link.Wants = func(v *chain.View) (bool, error) {
				return program.Eval(v.Decoded(func(v *chain.View) any { return match.NewInput(v.Event, v.Session, v.Data) }).(*match.Input))
			}
		}
		c.table = c.table.Apply(chain.Change{ID: h.Registration.ID, Link: link})
		c.may[h.Registration.ID] = may(h)
	}
	return c, nil
}

// Links are the hooks that an event concerns, in their order.
func (c *Chain) Links(event, session string) []*chain.Link { return c.table.For(event, session) }

// Has reports whether the file has a hook.
func (c *Chain) Has(id string) bool { return c.table.Get(id) != nil }

// May reports whether a hook may be called.
func (c *Chain) May(id string) bool { return c.may[id] }

// Time bounds the chain of one event, as a router does by default.
const Time = 30 * time.Second
