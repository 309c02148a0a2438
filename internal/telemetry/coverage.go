package telemetry

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxSources = 1000           // agents that are tracked
	coverageOf = 24 * time.Hour // how long an agent counts after its last event
)

// Coverage tracks which agents emitted events recently, and which of them emit tool:pre before they
// run tools. Agents choose their names, so the table is bounded, and an ungated agent keeps its
// place even if others invent names. It is safe for concurrent use.
type Coverage struct {
	mu     sync.RWMutex // guards agents
	agents map[string]*seenAgent
}

// seenAgent holds times in nanoseconds since 1970; 0 means never.
type seenAgent struct{ last, gated atomic.Int64 }

// expired reports whether the agent has emitted nothing for too long.
func (a *seenAgent) expired(now time.Time) bool {
	return now.UnixNano()-a.last.Load() > int64(coverageOf)
}

// ungated reports whether the agent has not emitted tool:pre recently.
func (a *seenAgent) ungated(now time.Time) bool {
	return now.UnixNano()-a.gated.Load() > int64(coverageOf)
}

// NewCoverage returns an empty Coverage.
func NewCoverage() *Coverage { return &Coverage{agents: map[string]*seenAgent{}} }

// Saw records an event of an agent, identified by its CloudEvents source, and whether hooks could
// have denied a tool.
func (c *Coverage) Saw(source string, gated bool, now time.Time) {
	c.mu.RLock()
	agent := c.agents[source]
	c.mu.RUnlock()
	if agent == nil {
		if agent = c.add(source, now); agent == nil {
			return
		}
	}
	agent.last.Store(now.UnixNano())
	if gated {
		agent.gated.Store(now.UnixNano())
	}
}

// add adds an agent. It returns nil if there is no room and all agents are ungated.
func (c *Coverage) add(source string, now time.Time) *seenAgent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if agent := c.agents[source]; agent != nil {
		return agent
	}
	if len(c.agents) >= maxSources && !c.makeRoom(now) {
		return nil
	}
	agent := &seenAgent{}
	agent.last.Store(now.UnixNano()) // not expired yet
	c.agents[strings.Clone(source)] = agent
	return agent
}

// makeRoom removes an expired agent, or else the gated one that has emitted nothing for longest.
// The caller holds mu.
func (c *Coverage) makeRoom(now time.Time) bool {
	oldest, silent := "", (*seenAgent)(nil)
	for source, agent := range c.agents {
		if agent.expired(now) {
			delete(c.agents, source)
			return true
		}
		if !agent.ungated(now) && (silent == nil || agent.last.Load() < silent.last.Load()) {
			oldest, silent = source, agent
		}
	}
	if silent == nil {
		return false
	}
	delete(c.agents, oldest)
	return true
}

// Count returns how many agents emitted events in the last 24 hours, and how many of these did not
// emit tool:pre in that time.
func (c *Coverage) Count(now time.Time) (seen, ungated int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, agent := range c.agents {
		if agent.expired(now) {
			continue
		}
		seen++
		if agent.ungated(now) {
			ungated++
		}
	}
	return seen, ungated
}
