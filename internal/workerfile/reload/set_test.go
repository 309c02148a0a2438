package reload_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestOnlyWhatChangedIsTouched(t *testing.T) {
	h := newHome(t, reload.Options{Linger: time.Millisecond})
	if got := h.apply(t, `
hooks:
  - {id: same, events: [a], say: {text: same}}
  - {id: handler, events: [b], say: {text: before}}
  - {id: registration, events: [c], say: {text: registration}}
  - {id: gone, events: [d], say: {text: gone}}
`); got != "4 new" {
		t.Errorf("first: %s", got)
	}
	before := h.listing(t)
	if got := h.apply(t, `
hooks: # in another order, and written otherwise
  - {id: new, events: [e], say: {text: new}}
  - id: registration
    events: [c, f]
    say: {text: registration}
  - {id: handler, events: [b], say: {text: after}}
  - {id: same, events: ['a'], priority: 0, say: {text: "same"}}
`); got != "2 changed, 1 new, 1 removed" {
		t.Errorf("then: %s", got)
	}
	for event, want := range map[string]string{"a": "same", "b": "after", "c": "registration", "d": "", "e": "new", "f": "registration"} {
		if got := h.emit(t, event, `{}`); got.Reason != want {
			t.Errorf("on %s: %q; want %q", event, got.Reason, want)
		}
	}
	after := h.listing(t)
	for id, changed := range map[string]bool{"same": false, "handler": false, "registration": true} {
		if (after[id].Revision != before[id].Revision) != changed || after[id].Order != before[id].Order {
			t.Errorf("%s was %+v and is %+v", id, before[id], after[id])
		}
	}
	for text, n := range map[string]int32{"same": 1, "before": 1, "registration": 1, "gone": 1} {
		h.closes(t, text, n) // for an unchanged hook, the new one that is not needed
	}
	for text, n := range map[string]int32{"same": 1, "before": 1, "registration": 2, "gone": 1, "after": 1, "new": 1} {
		if got := count(&h.started, text).Load(); got != n { // for an unchanged hook, the one in use
			t.Errorf("%s was started %d times; want %d", text, got, n)
		}
	}
	if got := h.apply(t, `hooks: [{id: same, events: [a], say: {text: same}}, {id: handler, events: [b], say: {text: after}}, {id: registration, events: [c, f], say: {text: registration}}, {id: new, events: [e], say: {text: new}}]`); got != "nothing changed" {
		t.Errorf("at last: %s", got)
	}
}

func TestAHookIsClosedWhenItsLastCallHasReturned(t *testing.T) {
	h := newHome(t, reload.Options{Linger: time.Millisecond})
	h.apply(t, `hooks: [{id: a, events: [e], say: {text: old, wait: true}}]`)
	answers := make(chan string, 1)
	go func() {
		answer, err := h.agent.Emit(context.Background(), "e", nil)
		if err != nil {
			t.Error(err)
		}
		answers <- answer.Reason
	}()
	<-h.inside
	h.apply(t, `hooks: [{id: a, events: [e, f], say: {text: new}}]`)
	if got := h.emit(t, "e", `{}`); got.Reason != "new" {
		t.Errorf("a call after the change is answered with %q", got.Reason)
	}
	h.apply(t, `hooks: [{id: a, events: [e, f], say: {text: newer}}]`)
	h.closes(t, "new", 1)
	if n := count(&h.closed, "old").Load(); n != 0 {
		t.Error("it was closed with a call under way")
	}
	close(h.goOn)
	if got := <-answers; got != "old" {
		t.Errorf("the call under way is answered with %q", got)
	}
	h.closes(t, "old", 1)
}

// A call may arrive under the old or the new registration, before and after the change is
// committed.
func TestACallByAnotherRegistrationIsAnsweredByItsHook(t *testing.T) {
	var h *home
	call := func(when, wants, want string) {
		t.Helper()
		m := &nats.Msg{Subject: "hooks.call.a", Header: nats.Header{}, Data: []byte(`{"wants":"` + wants + `"}`)}
		for name, value := range map[string]string{"ce-id": "1", "ce-source": "/a", "ce-specversion": "1.0", "ce-type": "e"} {
			m.Header[name] = []string{value}
		}
		answer, err := h.nats.RequestMsg(m, patience)
		if err != nil || !strings.Contains(string(answer.Data), `"`+want+`"`) {
			t.Errorf("%s: a call that %s wants is answered with %v %s", when, want, answer.Header, answer.Data)
		}
	}
	changing := false
	h = newHome(t, reload.Options{Registering: func(workerfile.Hook, chain.Registration) func(error) {
		return func(error) {
			if changing {
				call("before it is decided", "1", "old")
				call("before it is decided", "2", "new")
				call("before it is decided", "both", "old")
			}
		}
	}})
	h.apply(t, `hooks: [{id: a, events: [e], match: 'data.wants in ["1", "both"]', say: {text: old, fails: "2"}}]`)
	changing = true
	h.apply(t, `hooks: [{id: a, events: [e], match: 'data.wants in ["2", "both"]', say: {text: new, fails: "1"}}]`)
	call("afterwards", "1", "old")
	call("afterwards", "2", "new")
	call("afterwards", "both", "new")
}

const lastGood = `
hooks:
  - {id: altered, events: [a], version: 1.0.0, say: {text: altered}}
  - {id: exchanged, events: [b], say: {text: exchanged}}
  - {id: gone, events: [c], say: {text: gone}}
`

const refused = `
hooks:
  - {id: altered, events: [d], version: 2.0.0, say: {text: bad}}
  - {id: exchanged, events: [b], say: {text: bad}}
  - {id: new, events: [e], say: {text: bad}}
  - {id: guard, events: [e], on_failure: deny, say: {text: bad}}
  - id: taken
    events: [e]
    version: 1.0.0
    say: {text: bad}
`

func TestARefusedReloadIsUndoneAsAWhole(t *testing.T) {
	h := newHome(t, reload.Options{Linger: time.Millisecond})
	if _, err := h.other.Register(t.Context(), chain.Registration{ID: "taken", Events: []string{"x"}, Version: "2.0.0"},
		func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }); err != nil {
		t.Fatal(err)
	}
	h.apply(t, lastGood)
	for range 3 {
		_, err := h.Apply(t.Context(), h.read(t, refused))
		if want := `worker.yaml:7:9: hooks[4]: register hook taken: `; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `version "1.0.0" is older`) {
			t.Fatalf("Apply = %v; want %s", err, want)
		}
		for event, want := range map[string]string{"a": "altered", "b": "exchanged", "c": "gone", "d": ""} {
			if got := h.emit(t, event, `{}`); got.Reason != want || got.FailedOpen != nil {
				t.Errorf("on %s: %+v; want %q", event, got, want)
			}
		}
		list := h.listing(t)
		if _, there := list["new"]; there || list["altered"].Events[0] != "a" {
			t.Errorf("registered are %+v", list)
		}
		if l := list["guard"]; len(l.Instances) != 0 || !strings.Contains(h.log.String(), "hookctl hook rm guard") {
			t.Errorf("the guard is %+v, and the log says %s", l, h.log)
		}
	}
	h.closes(t, "bad", 15)
	if err := h.other.Retire(t.Context(), "taken"); err != nil {
		t.Fatal(err)
	}
	if got := h.apply(t, refused); got != "2 changed, 3 new, 1 removed" {
		t.Errorf("once nothing is in its way: %s", got)
	}
}

func TestAGuardThatLeavesTheFileStaysAndDenies(t *testing.T) {
	h := newHome(t, reload.Options{})
	h.apply(t, `hooks: [{id: guard, events: [a], on_failure: deny, say: {text: by guard}}, {id: open, events: [b], on_failure: deny, durable: false, say: {text: open}}, {id: c, events: [c], say: {text: c}}]`)
	h.apply(t, `hooks: [{id: c, events: [c], say: {text: c}}]`)
	if got := h.emit(t, "a", `{}`); got.DeniedBy != "guard" || !strings.Contains(got.Reason, "no_responder") {
		t.Errorf("the guard's event is answered %+v", got)
	}
	if got := h.emit(t, "b", `{}`); got.Denied() || got.Hooks != 0 {
		t.Errorf("the other's event is answered %+v", got)
	}
	if want := `remove_with="hookctl hook rm guard"`; strings.Count(h.log.String(), want) != 1 || strings.Contains(h.log.String(), "rm open") {
		t.Errorf("the log says %s; want %s", h.log, want)
	}
	h.apply(t, `hooks: [{id: guard, events: [a], on_failure: deny, say: {text: back}}]`)
	if got := h.emit(t, "a", `{}`); got.Reason != "back" {
		t.Errorf("back in the file it answers %+v", got)
	}
}

func TestContributionsAreRegisteredBesideTheirHook(t *testing.T) {
	h := newHome(t, reload.Options{})
	collect := func(channel string) agent.Collection {
		got, err := h.agent.CollectContributions(t.Context(), channel, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	h.apply(t, `hooks: [{id: a, events: [e], say: {text: one, channels: [session.todos, session.metadata]}}]`)
	want := agent.Collection{Values: []json.RawMessage{[]byte(`"one"`)}, From: []string{"a-channels"}}
	for _, channel := range []string{"session.todos", "session.metadata"} {
		if diff := cmp.Diff(want, collect(channel)); diff != "" {
			t.Errorf("on %s (-want +got):\n%s", channel, diff)
		}
	}
	if got := h.apply(t, `hooks: [{id: a, events: [e], say: {text: two, channels: [session.todos]}}]`); got != "2 changed" {
		t.Error(got)
	}
	if got := collect("session.todos"); string(got.Values[0]) != `"two"` {
		t.Errorf("%+v", got)
	}
	if got := collect("session.metadata"); len(got.From)+len(got.Missing) != 0 {
		t.Errorf("a channel that it left: %+v", got)
	}
	if got := h.apply(t, `hooks: [{id: a, events: [e], say: {text: three}}]`); got != "1 changed, 1 removed" {
		t.Error(got)
	}
	for name, text := range map[string]string{
		`worker.yaml:1:14: hooks[0]: the id "a-channels" is another hook's`: `hooks: [{id: a, events: [e], say: {text: no, channels: [c]}}, {id: a-channels, events: [e], say: {text: no}}]`,
		"hooks[0]: hook id": fmt.Sprintf(`hooks: [{id: %s, events: [e], say: {text: no, channels: [c]}}]`, strings.Repeat("a", 60)),
	} {
		if _, err := h.Apply(t.Context(), h.read(t, text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Apply = %v; want %s", err, name)
		}
	}
}

func TestFilesOfHooksAreNamed(t *testing.T) {
	h := newHome(t, reload.Options{})
	file := h.read(t, `hooks: [{id: a, events: [e], say: {text: a}}, {id: b, events: [e], say: {text: b}}]`)
	file.Hooks[0].Files = []string{"/z", "/b"}
	file.Hooks[1].Files = []string{"/b"}
	if _, err := h.Apply(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/b", "/z"}, h.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestContributorsOfAFile(t *testing.T) {
	h := newHome(t, reload.Options{Linger: time.Millisecond})
	for _, step := range []struct{ file, changes, given, from string }{
		{`contributors: [{id: a, channels: [c], data: {n: 1}}, {id: b, channels: [c], data: two}]`, "2 new", `[{"n":1} "two"]`, "[a b]"},
		{`contributors: [{id: a, channels: [c], data: {n: 2}}, {id: b, channels: [c], data: two}]`, "1 changed", `[{"n":2} "two"]`, "[a b]"},
		{`contributors: [{id: a, channels: [d, c], data: {n: 2}}]`, "1 changed, 1 removed", `[{"n":2}]`, "[a]"},
		{`hooks: [{id: b, events: [e], say: {text: no}}]`, "1 new, 1 removed", `[]`, "[]"},
	} {
		if got := h.apply(t, step.file); got != step.changes {
			t.Errorf("%s: %s; want %s", step.file, got, step.changes)
		}
		got, err := h.agent.CollectContributions(t.Context(), "c", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%s", got.Values) != step.given || fmt.Sprint(got.From) != step.from {
			t.Errorf("%s: given is %s from %s; want %s from %s", step.file, got.Values, got.From, step.given, step.from)
		}
	}
}
