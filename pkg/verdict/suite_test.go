package verdict_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// suiteCase is a case of the public conformance suite; its format is described in
// test/conformance/FORMAT.md.
type suiteCase struct {
	Name          string
	Handlers      []handler
	DefaultFields json.RawMessage `json:"default_fields"`
	Config        struct {
		Size   int `json:"injection_size_limit"`
		Budget int `json:"injection_budget_per_turn"`
	}
	Steps []step
	step
}

type step struct {
	Op, Event string
	Data      json.RawMessage
	Expect    map[string]any
}

type handler struct {
	ID, Name, Event string
	Priority        int
	TimeoutMS       int    `json:"timeout_ms"`
	OnFailure       string `json:"on_failure"`
	Behavior        behavior
}

type behavior struct {
	Return    json.RawMessage
	ReturnRaw json.RawMessage `json:"return_raw"`
	Error     string
	Set       map[string]any
	Sequence  []behavior
	SleepMS   int `json:"sleep_ms"`
}

// TestConformanceSuite replays what the suite says about execute, all but the
// answers of people, through the chain and Compose.
func TestConformanceSuite(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "test", "conformance", "testdata", "public.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []suiteCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	replayed := 0
	for _, c := range cases {
		if c.Steps == nil {
			c.Steps = []step{c.step}
		}
		if !c.isPure() {
			continue
		}
		replayed++
		t.Run(c.Name, c.replay)
	}
	if replayed < 90 {
		t.Errorf("only %d cases were replayed: does the suite still look the same?", replayed)
	}
}

// isPure reports whether the case executes something and needs the chain only.
func (c suiteCase) isPure() bool {
	executes := false
	for _, s := range c.Steps {
		switch s.Op {
		case "execute":
			executes = true
		case "emit", "reset_turn", "end_session":
		default:
			return false
		}
	}
	return executes && c.DefaultFields == nil
}

func (c suiteCase) replay(t *testing.T) {
	table, used := c.table(), 0
	for i, s := range c.Steps {
		if s.Op == "reset_turn" || s.Op == "end_session" {
			used = 0
			continue
		}
		ev := events.Event{Name: s.Event, Session: "s", Data: s.Data}
		out, err := chain.Run(t.Context(), table.For(s.Event, "s"), ev, chain.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Op == "emit" {
			continue
		}
		limits := verdict.Limits{Size: c.Config.Size, Budget: c.Config.Budget}
		v := verdict.Compose(out, ev, limits, used, noon)
		used = v.InjectedTokens
		parsed, err := verdict.Parse(v.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		v.Injected, v.Dropped = nil, nil // the wire does not carry them
		if diff := cmp.Diff(v, parsed); diff != "" {
			t.Errorf("step %d: the verdict does not survive its text (-want +got):\n%s", i+1, diff)
		}
		for key, got := range observed(parsed) {
			if want, ok := s.Expect[key]; ok && !subset(want, got) {
				t.Errorf("step %d: %s is %v, want %v", i+1, key, got, want)
			}
		}
	}
}

func (c suiteCase) table() *chain.Table {
	table := &chain.Table{}
	for i, h := range c.Handlers {
		reg := chain.Registration{
			ID: fmt.Sprintf("h%d", i), Name: h.Name, Events: []string{h.Event}, Priority: h.Priority, OnFailure: chain.Policy(h.OnFailure),
		}
		calls := 0
		table = table.Apply(chain.Change{ID: reg.ID, Entry: &chain.Entry{
			Registration: reg, Order: uint64(i + 1),
			Hook: func(_ context.Context, ev events.Event) (chain.Result, error) {
				b := h.Behavior
				if len(b.Sequence) > 0 {
					b = b.Sequence[min(calls, len(b.Sequence)-1)]
				}
				calls++
				if h.TimeoutMS > 0 && b.SleepMS > h.TimeoutMS {
					return chain.Result{}, context.DeadlineExceeded
				}
				return b.answer(ev.Data)
			},
		}})
	}
	return table
}

func (b behavior) answer(data []byte) (chain.Result, error) {
	switch {
	case b.Error != "":
		return chain.Result{}, errors.New(b.Error)
	case b.ReturnRaw != nil:
		return chain.ParseResult(b.ReturnRaw)
	case b.Set != nil:
		var object map[string]any
		if err := json.Unmarshal(data, &object); err != nil {
			return chain.Result{}, err
		}
		maps.Copy(object, b.Set)
		return chain.Replace(object)
	default:
		return chain.ParseResult(b.Return)
	}
}

// observed is a verdict by the suite's names. Where a person is asked, the action
// and what follows from it are not known yet.
func observed(v verdict.Verdict) map[string]any {
	persistent, transient, drops := []any{}, []any{}, []any{}
	for _, m := range v.Messages {
		if m.Ephemeral {
			transient = append(transient, m)
		} else {
			persistent = append(persistent, m)
		}
	}
	for _, w := range v.Warnings {
		if w.Kind == verdict.Oversize || w.Kind == verdict.Budget {
			drops = append(drops, w.Kind)
		}
	}
	seen := map[string]any{
		"messages": persistent, "transient": transient, "warnings": drops, "injected_tokens": v.InjectedTokens,
		"display": v.Display, "suppress_output_names": v.SuppressOutput,
	}
	if v.Action != verdict.Pending {
		seen["action"], seen["data"], seen["approvals"], seen["approval_count"] = v.Action, v.Data, []any{}, 0
	}
	if v.Action == verdict.Deny {
		seen["reason"] = v.Reason
	}
	return plain(seen).(map[string]any)
}

// plain is v as its JSON text reads.
func plain(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var read any
	if err := json.Unmarshal(text, &read); err != nil {
		panic(err)
	}
	return read
}

// subset reports whether got has what want says; no list is an empty one.
func subset(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && subset(value, members[name])
		}
		return ok
	case []any:
		items, _ := got.([]any)
		ok := len(items) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = subset(want[i], items[i])
		}
		return ok
	default:
		return cmp.Equal(want, got)
	}
}
