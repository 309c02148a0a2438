package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/test/agents"
)

// artifact is where the matrix is written for other programs.
const artifact = "../artifacts/agents.json"

// matrix is what each agent did in each case.
type matrix struct {
	agents []agents.Agent

	mu    sync.Mutex
	cells []cell
}

// cell is what one agent did in one case.
type cell struct {
	Agent   string  `json:"agent"`
	Version string  `json:"version"`
	Case    string  `json:"case"`
	Result  string  `json:"result"`           // ok, cannot or FAILED
	Note    string  `json:"note,omitempty"`   // what happened instead, or beside
	Reason  string  `json:"reason,omitempty"` // why it cannot
	Seconds float64 `json:"seconds"`
}

// newMatrix is the matrix of the agents that AGENTS names. It is shown when the test ends.
func newMatrix(t *testing.T) *matrix {
	t.Helper()
	list := os.Getenv("AGENTS")
	if list == "" {
		t.Skip("AGENTS names no agent")
	}
	chosen, err := agents.Select(list)
	if err != nil {
		t.Fatal(err)
	}
	m := &matrix{agents: chosen}
	t.Cleanup(func() { m.show(t) })
	return m
}

func (m *matrix) add(t *testing.T, a agents.Agent, name, note string, took time.Duration) {
	c := cell{Agent: a.Name, Version: a.Version, Case: name, Result: "ok", Note: note, Reason: a.Cannot[name], Seconds: took.Seconds()}
	switch {
	case t.Failed():
		c.Result, c.Note = "FAILED", ""
	case c.Reason != "":
		c.Result = "cannot"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cells = append(m.cells, c)
}

func (m *matrix) show(t *testing.T) {
	place := func(c cell) int {
		a := slices.IndexFunc(m.agents, func(a agents.Agent) bool { return a.Name == c.Agent })
		s := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == c.Case })
		return a*len(scenarios) + s
	}
	slices.SortFunc(m.cells, func(a, b cell) int { return place(a) - place(b) })
	var b strings.Builder
	for _, c := range m.cells {
		fmt.Fprintf(&b, "%-12s %-10s %-29s %-6s %4.1f s", c.Agent, c.Version, c.Case, c.Result, c.Seconds)
		if c.Note != "" {
			fmt.Fprintf(&b, "  %s", c.Note)
		}
		b.WriteString("\n")
	}
	where := "cut off from the network"
	if !agents.Cut() {
		where = "NOT cut off from the network"
	}
	t.Logf("what real agents did, %s:\n%s", where, &b)
	text, err := json.MarshalIndent(m.cells, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(artifact), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(artifact, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}
