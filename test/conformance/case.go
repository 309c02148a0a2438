package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// Case is one entry of the suite, with the format's defaults filled in.
type Case struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Source string `json:"source"` // where the rule comes from; information only

	Handlers        []Handler         `json:"handlers"`       // registered in this order
	Contributors    []Contributor     `json:"contributors"`   // registered in this order, after the handlers
	DefaultFields   json.RawMessage   `json:"default_fields"` // nil where none are set
	Config          Config            `json:"config"`
	ContextMessages []json.RawMessage `json:"context_messages"` // in the context manager before the first step
	ApprovalAnswers []string          `json:"approval_answers"` // one for each request, in order
	Steps           []Step            `json:"steps"`            // never empty after Load
}

// Executes reports whether a step of the case needs the router's execute side.
func (c Case) Executes() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Op == OpExecute })
}

// Handler is a scripted hook.
type Handler struct {
	ID        string   `json:"id"` // what the case calls it; the name where none is given
	Name      string   `json:"name"`
	Event     string   `json:"event"`
	Priority  int      `json:"priority"`
	TimeoutMS int      `json:"timeout_ms"` // 0: the router's default
	OnFailure string   `json:"on_failure"` // "continue" where none is given
	Behavior  Behavior `json:"behavior"`
}

// Contributor is a scripted contributor on a contribution channel.
type Contributor struct {
	ID       string   `json:"id"` // the name where none is given
	Name     string   `json:"name"`
	Channel  string   `json:"channel"`
	Behavior Behavior `json:"behavior"`
}

// Config holds the session's settings and who is listening around the router.
// A limit of 0 is not set; a system is Present, Absent or, for the context
// manager, Failing.
type Config struct {
	InjectionSizeLimit     int    `json:"injection_size_limit"`
	InjectionBudgetPerTurn int    `json:"injection_budget_per_turn"`
	ApprovalSystem         string `json:"approval_system"`
	DisplaySystem          string `json:"display_system"`
	ContextManager         string `json:"context_manager"`
}

// The states of a system in Config.
const (
	Present = "present"
	Absent  = "none"
	Failing = "failing"
)

// Step is one thing the agent does. Which fields count depends on Op.
type Step struct {
	Op       string                     `json:"op"`
	Event    string                     `json:"event"`
	Data     json.RawMessage            `json:"data"` // sent byte for byte
	TimeoutS float64                    `json:"timeout_s"`
	Channel  string                     `json:"channel"`
	Handler  json.RawMessage            `json:"handler"` // an object to register, an id to unregister
	Fields   json.RawMessage            `json:"fields"`
	MS       int                        `json:"ms"`
	Expect   map[string]json.RawMessage `json:"expect"`

	register   Handler // Handler, for OpRegister
	unregister string  // Handler, for OpUnregister
}

// The operations of a step.
const (
	OpEmit             = "emit"
	OpExecute          = "execute"
	OpCollect          = "emit_and_collect"
	OpContributions    = "collect_contributions"
	OpList             = "list_handlers"
	OpRegister         = "register"
	OpUnregister       = "unregister"
	OpSetDefaultFields = "set_default_fields"
	OpResetTurn        = "reset_turn"
	OpEndSession       = "end_session"
	OpSleep            = "sleep"
)

// Load reads a suite. An unknown field, operation, behavior or expectation is an
// error: a case that is half understood must not pass.
func Load(path string) ([]Case, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load suite: %w", err)
	}
	cases, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("load suite %s: %w", path, err)
	}
	return cases, nil
}

func parse(raw []byte) ([]Case, error) {
	var entries []struct {
		Case
		Step // of a case that is its own only step
	}
	if err := decodeStrictly(raw, &entries); err != nil {
		return nil, err
	}
	cases := make([]Case, 0, len(entries))
	seen := make(map[string]bool, len(entries))
	for i, entry := range entries {
		c := entry.Case
		switch {
		case c.Name == "" || seen[c.Name]:
			return nil, fmt.Errorf("check case %d: no name of its own: %q", i, c.Name)
		case entry.Op != "" && c.Steps != nil:
			return nil, fmt.Errorf("check case %s: both op and steps", c.Name)
		case c.Steps == nil:
			c.Steps = []Step{entry.Step}
		}
		seen[c.Name] = true
		if err := c.complete(); err != nil {
			return nil, fmt.Errorf("check case %s: %w", c.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// decodeStrictly decodes the one JSON document in raw, refusing unknown fields.
func decodeStrictly(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("decode JSON: something follows the document")
	}
	return nil
}
