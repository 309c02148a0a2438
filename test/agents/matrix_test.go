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
	where := "cut off from the network"
	if !agents.Cut() {
		where = "NOT cut off from the network"
	}
	t.Logf("what real agents did, %s:\n%s", where, m.text())
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

// text is the matrix for people: a column for each agent, then what there is to say.
func (m *matrix) text() string {
	const width = 20
	var table, notes strings.Builder
	fmt.Fprintf(&table, "%-*s", width, "")
	for _, a := range m.agents {
		fmt.Fprintf(&table, " %*s", max(len(a.Name), len("FAILED")), a.Name)
	}
	table.WriteString("\n")
	for _, s := range scenarios {
		var row strings.Builder
		for _, a := range m.agents {
			result := "-" // -run left it out
			if i := slices.IndexFunc(m.cells, func(c cell) bool { return c.Agent == a.Name && c.Case == s.name }); i >= 0 {
				result = m.cells[i].Result
			}
			fmt.Fprintf(&row, " %*s", max(len(a.Name), len("FAILED")), result)
		}
		fmt.Fprintf(&table, "%-*s%s\n", width, s.name, &row)
	}
	for _, c := range m.cells {
		if said := strings.TrimPrefix(c.Note+": "+c.Reason, ": "); said != "" {
			fmt.Fprintf(&notes, "%s %s, %s, %.0f s: %s\n", c.Agent, c.Version, c.Case, c.Seconds, strings.TrimSuffix(said, ": "))
		}
	}
	return table.String() + "\n" + notes.String()
}
