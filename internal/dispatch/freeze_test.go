package dispatch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// A frozen event is denied on record, and no hook hears of it.
func TestAFrozenEventCallsNoHook(t *testing.T) {
	b := newBench(t, dispatch.Options{}, hook{Registration: reg("a", 10)})
	b.deps.frozen = &freeze.Order{Reason: "leak"}
	answer, err := b.Execute(t.Context(), request(t, events.ToolPre, `{}`))
	if err != nil || !strings.Contains(string(answer.Body), `"action":"deny","reason":"Frozen by an operator: leak"`) {
		t.Fatalf("%s, %v", answer.Body, err)
	}
	if happened := b.deps.happened(); !slices.Equal(happened, []string{"recorded"}) {
		t.Errorf("%q; want nothing but the record", happened)
	}
}

// A thaw that lifts nothing is no change, and so not on record.
func TestAThawOfNothingIsNotRecorded(t *testing.T) {
	b := newBench(t, dispatch.Options{}, hook{Registration: reg("a", 10)})
	if thawed, err := b.Thaw(t.Context(), freeze.Order{By: "ann"}); thawed || err != nil {
		t.Errorf("nothing is frozen: %v, %v", thawed, err)
	}
	b.deps.frozen = &freeze.Order{Agent: "coder", Reason: "leak"}
	if thawed, err := b.Thaw(t.Context(), freeze.Order{By: "ann"}); thawed || err != nil {
		t.Errorf("another scope is frozen: %v, %v", thawed, err)
	}
	if happened := b.deps.happened(); len(happened) != 0 {
		t.Errorf("%q; want nothing", happened)
	}
	if thawed, err := b.Thaw(t.Context(), freeze.Order{Agent: "coder", By: "ann"}); !thawed || err != nil {
		t.Errorf("the agent is frozen: %v, %v", thawed, err)
	}
	if records := b.deps.records(t); len(records) != 1 || records[0]["action"] != "thawed" {
		t.Errorf("on record: %v", records)
	}
	b.deps.frozenErr = wire.Errorf(wire.Unavailable, "stale")
	if _, err := b.Thaw(t.Context(), freeze.Order{By: "ann"}); wire.CodeOf(err) != wire.Unavailable {
		t.Errorf("a replica that can't know: %v; want 503", err)
	}
}

// A replica that lost its lease while a chain ran may not know of a freeze: it permits
// nothing, and a record says that the agent did not get what the log says.
func TestNoPermissionWhileFreezesAreUnknown(t *testing.T) {
	b := newBench(t, dispatch.Options{}, hook{Registration: reg("a", 10)})
	for verb, do := range map[string]func() (*dispatch.Answer, error){
		"emit":    func() (*dispatch.Answer, error) { return b.Emit(t.Context(), request(t, events.ToolPre, `{}`)) },
		"execute": func() (*dispatch.Answer, error) { return b.Execute(t.Context(), request(t, events.ToolPre, `{}`)) },
	} {
		b.deps.frozenErr, b.deps.lines = nil, nil
		b.deps.meanwhile = func() { b.deps.frozenErr = wire.Errorf(wire.Unavailable, "stale") }
		if answer, err := do(); answer != nil || wire.CodeOf(err) != wire.Unavailable {
			t.Errorf("%s: %+v, %v; want 503", verb, answer, err)
		}
		records := b.deps.records(t)
		if last := records[len(records)-1]; last["kind"] != "chain.refused" || last["action"] != "unavailable" {
			t.Errorf("%s: the last record is %v", verb, last)
		}
	}
}
