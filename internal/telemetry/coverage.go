package telemetry

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxSources = 1000           // agents whose coverage is known
	coverageOf = 24 * time.Hour // how long an agent counts after its last event
)

// Coverage tracks which agents emitted events recently, and which of them emit tool:pre
// before they run tools. It is safe for concurrent use.
type Coverage struct {
	mu     sync.RWMutex // guards agents and swept
	agents map[string]*seenAgent
	swept  time.Time
	missed atomic.Int64 // events of agents beyond the bound
}

// seenAgent holds times in nanoseconds since 1970, 0 for never.
type seenAgent struct{ last, gated atomic.Int64 }

// NewCoverage makes an empty Coverage.
func NewCoverage() *Coverage { return &Coverage{agents: map[string]*seenAgent{}} }

// Saw records an event of an agent, by its CloudEvents source, and whether hooks could
// have denied a tool.
func (c *Coverage) Saw(source string, gated bool, now time.Time) {
	c.mu.RLock()
	agent := c.agents[source]
	c.mu.RUnlock()
	if agent == nil {
		if agent = c.add(source, now); agent == nil {
			c.missed.Add(1)
			return
		}
	}
	agent.last.Store(now.UnixNano())
	if gated {
		agent.gated.Store(now.UnixNano())
	}
}

// add adds an agent, in place of an expired one if the table is full; nil if none has
// expired.
func (c *Coverage) add(source string, now time.Time) *seenAgent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if agent := c.agents[source]; agent != nil {
		return agent
	}
	if len(c.agents) >= maxSources {
		if now.Sub(c.swept) > time.Minute {
			c.sweep(now)
		}
		if len(c.agents) >= maxSources {
			return nil
		}
	}
	agent := &seenAgent{}
	c.agents[strings.Clone(source)] = agent
	return agent
}

// sweep removes expired agents. The caller holds mu.
func (c *Coverage) sweep(now time.Time) {
	c.swept = now
	for source, agent := range c.agents {
		if now.UnixNano()-agent.last.Load() > int64(coverageOf) {
			delete(c.agents, source)
		}
	}
}

// Count returns how many agents emitted events in the last 24 hours, and how many of them
// never emitted tool:pre.
func (c *Coverage) Count(now time.Time) (seen, ungated int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, agent := range c.agents {
		if now.UnixNano()-agent.last.Load() > int64(coverageOf) {
			continue
		}
		seen++
		if now.UnixNano()-agent.gated.Load() > int64(coverageOf) {
			ungated++
		}
	}
	return seen, ungated
}
