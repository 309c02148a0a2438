package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const bash = `{"tool_name":"Bash","tool_input":{"command":"ls"}}`

// safe returns the registration of a hook that may be called again.
func safe(id string) chain.Registration { return chain.Registration{ID: id, ReplaySafe: true} }

func TestReplayCallsOnlySafeHooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.hook(chain.Registration{ID: "acts"}, always(chain.Result{}))
	f.hook(chain.Registration{ID: "asks-nobody", ReplaySafe: true, TimeoutMS: 2000}, always(chain.Result{}))
	recorded := f.emit(bash)
	if diff := cmp.Diff([]string{"acts", "asks-nobody"}, hooksOf(f.seen())); diff != "" {
		t.Fatalf("calls of the event (-want +got):\n%s", diff)
	}
	f.hook(chain.Registration{ID: "tried", Mode: chain.Shadow, TimeoutMS: 2000}, always(chain.Denial("not here")))

	results, report := f.replay()
	calls := f.seen()
	if diff := cmp.Diff([]string{"asks-nobody", "tried"}, hooksOf(calls)); diff != "" {
		t.Fatalf("calls of the replay (-want +got):\n%s", diff)
	}
	for _, c := range calls {
		if c.Mode != chain.Shadow || c.ChainID == recorded || c.ChainID == c.Event.ID || c.ChainID == "" || c.Session != "s1" || c.Source != "/test" {
			t.Errorf("%s was called in mode %q of chain %q (recorded %s), session %q, source %q", c.hook, c.Mode, c.ChainID, recorded, c.Session, c.Source)
		}
		if c.left <= 0 || c.left > 2*time.Second {
			t.Errorf("%s was given %v; want the 2 s of its registration", c.hook, c.left)
		}
	}
	want := evaluate.Decision{Action: chain.Deny, By: "tried", Reason: "not here"}
	if r := results[0]; r.Was.Action != chain.Continue || r.Would != want || r.Differs != evaluate.DiffersInAction || r.Chain.ID != recorded {
		t.Errorf("result %+v of chain %s", r, r.Chain.ID)
	}
	if report.Chains != 1 || report.Replayed != 1 || report.Differ != 1 || report.AsRecorded != 1 || report.Assumed != 0 || report.Refused != 0 {
		t.Errorf("report %+v", report)
	}
}

func TestReplayLeavesOutShadowHooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.emit(bash)
	f.hook(chain.Registration{ID: "tried", Mode: chain.Shadow}, always(chain.Denial("no")))
	f.hook(chain.Registration{ID: "told", Mode: chain.Observe, ReplaySafe: true}, always(chain.Result{}))
	results, report := run(t, f.log(evaluate.RecordingFilter{}), evaluate.NewLive(f.bus, false).Replay)
	if report.Same != 1 || len(results[0].Calls) != 0 {
		t.Errorf("report %+v, hops %+v", report, results[0].Calls)
	}
	if calls := f.seen(); len(calls) != 0 {
		t.Errorf("called were %q", hooksOf(calls))
	}
}

func TestAnUnsafeHookThatTheChainDidNotHaveRefusesIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.emit(bash)
	f.hook(chain.Registration{ID: "new"}, always(chain.Result{}))
	results, report := f.replay()
	if got, want := reason(results[0]), "not replayable: new is not replay_safe and was not in the recorded chain"; got != want {
		t.Errorf("refused for %q; want %q", got, want)
	}
	if report.Refused != 1 || report.Replayed != 0 || report.Refusals[0].Count != 1 || report.Refusals[0].Example != results[0].Chain.ID {
		t.Errorf("report %+v", report)
	}
	if calls := f.seen(); len(calls) != 0 {
		t.Errorf("called were %q", hooksOf(calls))
	}
}

func TestReplayCallsNoHookThatBecameUnsafe(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	unregister := f.hook(safe("guard"), always(chain.Denial("then")))
	f.emit(bash)
	f.seen()
	unregister()
	f.hook(chain.Registration{ID: "guard"}, always(chain.Denial("now")))
	results, report := f.replay()
	if calls := f.seen(); len(calls) != 0 {
		t.Errorf("called were %q", hooksOf(calls))
	}
	if r := results[0]; r.Would.Reason != "then" || report.AsRecorded != 1 || report.Same != 1 {
		t.Errorf("would be %+v, report %+v", r.Would, report)
	}
}

// A replay may run for hours while registrations change.
func TestRunningReplayCallsNoHookThatBecameUnsafe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		f := newFixture(t, router.Options{})
		unregister := f.hook(safe("guard"), always(chain.Result{}))
		f.emit(bash)
		live := evaluate.NewLive(f.bus, true)
		run(t, f.log(evaluate.RecordingFilter{}), live.Replay)
		unregister()
		f.hook(chain.Registration{ID: "guard"}, always(chain.Result{}))
		f.seen()
		<-time.After(1100 * time.Millisecond) // as long as a list of registrations is considered fresh
		run(t, f.log(evaluate.RecordingFilter{}), live.Replay)
		if calls := f.seen(); len(calls) != 0 {
			t.Errorf("called were %q", hooksOf(calls))
		}
	})
}

func TestWhatAHookBehindARecordedDenialWouldSayIsNotGuessed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	unregister := f.hook(safe("guard"), always(chain.Denial("no")))
	f.hook(chain.Registration{ID: "after", Priority: 5}, always(chain.Result{}))
	f.emit(bash)
	unregister()
	f.hook(safe("guard"), always(chain.Result{}))
	f.seen()
	results, _ := f.replay()
	if got, want := reason(results[0]), "not replayable: after is not replay_safe and was not in the recorded chain"; got != want {
		t.Errorf("refused for %q; want %q", got, want)
	}
	if diff := cmp.Diff([]string{"guard"}, hooksOf(f.seen())); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestDecisionsAreComparedByWhatTheAgentMayDo(t *testing.T) {
	t.Parallel()
	modify := func(command string) chain.Result {
		return chain.Result{Action: chain.Modify, Data: json.RawMessage(`{"tool_name":"Bash","session_id":"s1","timestamp":"T","tool_input":{"command":"` + command + `"}}`)}
	}
	const was, now = "was", "now" // two hooks with the same place in the chain
	for sentence, c := range map[string]struct {
		was, now chain.Result
		differs  string
		change   string
	}{
		"the same":       {chain.Result{}, chain.Result{}, "", ""},
		"denied no more": {chain.Denial("a"), chain.Result{}, "action", "deny by was > continue"},
		"a denial by another hook is no difference":       {chain.Denial("a"), chain.Denial("b"), "", ""},
		"asked instead of denied":                         {chain.Denial("a"), chain.Question("Really?"), "action", "deny by was > ask_user by now"},
		"an approval request by another hook is the same": {chain.Question("Sure?"), chain.Question("Really?"), "", ""},
		"changed now":                     {chain.Result{}, modify("x"), "action", "continue > modify by now"},
		"changed in the same way":         {modify("x"), modify("x"), "", ""},
		"changed in another way":          {modify("x"), modify("y"), "data", "modify by was > modify by now"},
		"a text that is injected no more": {chain.Injection("a"), chain.Result{}, "action", "inject_context by was > continue"},
		"another text":                    {chain.Injection("a"), chain.Injection("b"), "text", "inject_context by was > inject_context by now"},
		"the same text":                   {chain.Injection("a"), chain.Injection("a"), "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, router.Options{})
			unregister := f.hook(safe(was), always(c.was))
			f.emit(bash)
			unregister()
			f.hook(safe(now), always(c.now))
			results, report := f.replay()
			if results[0].Differs != c.differs {
				t.Errorf("differs %q; want %q: %+v", results[0].Differs, c.differs, results[0])
			}
			change := ""
			for _, g := range report.Changes {
				change += strings.TrimSuffix(string(g.Was.Action)+" by "+g.Was.By, " by ") + " > " + strings.TrimSuffix(string(g.Would.Action)+" by "+g.Would.By, " by ")
			}
			if change != c.change {
				t.Errorf("the report has %q; want %q", change, c.change)
			}
		})
	}
}

// The match of a hook is evaluated with the data at its place in the chain. The agent's default
// fields are derived from what a hook returned.
func TestAHookSeesTheDataAtItsPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	if err := f.agent.SetDefaultFields(map[string]any{"team": "core"}); err != nil {
		t.Fatal(err)
	}
	renames := func(_ context.Context, ev worker.Event) (worker.Result, error) {
		data, err := events.ParseObject(ev.Data)
		if err != nil {
			return worker.Result{}, err
		}
		if data, err = events.ParseObject(data.With("tool_name", []byte(`"Shell"`))); err != nil {
			return worker.Result{}, err
		}
		return worker.Modify(json.RawMessage(data.With("added", []byte(`1`))))
	}
	f.hook(safe("renames"), renames)
	f.hook(chain.Registration{ID: "acts", Priority: 1}, always(chain.Result{}))
	f.emit(bash)
	then := f.seen()
	f.hook(chain.Registration{ID: "sees", Priority: 2, Match: `data.tool_name == "Shell"`, ReplaySafe: true}, always(chain.Denial("Shell")))
	f.hook(chain.Registration{ID: "blind", Priority: 3, Match: `data.tool_name == "Bash"`}, always(chain.Denial("Bash")))
	results, report := f.replay()
	now := f.seen()
	if diff := cmp.Diff([]string{"renames", "sees"}, hooksOf(now)); diff != "" {
		t.Fatalf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(string(then[0].Data), string(now[0].Data)); diff != "" {
		t.Errorf("what the first hook got (-then +now):\n%s", diff)
	}
	if diff := cmp.Diff(string(then[1].Data), string(now[1].Data)); diff != "" {
		t.Errorf("what came after the change (-then +now):\n%s", diff)
	}
	if r := results[0]; r.Would.By != "sees" || report.AsRecorded != 1 || report.Assumed != 0 {
		t.Errorf("would be %+v, report %+v", r.Would, report)
	}
}

func TestRecordedAnswerToOtherDataCountsAsAssumed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.hook(chain.Registration{ID: "acts", Priority: 1}, always(chain.Result{}))
	f.emit(bash)
	f.hook(safe("changes"), always(chain.Result{Action: chain.Modify, Data: json.RawMessage(`{"tool_name":"x"}`)}))
	results, report := f.replay()
	if !slices.Equal(results[0].Assumed(), []string{"acts"}) || report.Assumed != 1 {
		t.Errorf("assumed %q, report %+v", results[0].Assumed(), report)
	}
}

func TestRecordedAndNewFailuresAreCompared(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	fails := func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, errors.New("broken")
	}
	f.hook(chain.Registration{ID: "acts"}, fails)
	f.emit(bash)
	f.hook(chain.Registration{ID: "tried", Mode: chain.Shadow, OnFailure: chain.FailClosed}, fails)
	results, report := f.replay()
	want := []evaluate.Call{
		{ID: "acts", Failure: chain.FailedError, Error: "broken (500)", Recorded: true},
		{ID: "tried", Failure: chain.FailedError, Error: "broken (500)"},
	}
	if diff := cmp.Diff(want, results[0].Calls); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
	if w := results[0].Would; w.Action != chain.Deny || w.By != "tried" || w.Failure != chain.FailedError || report.Failed != 1 {
		t.Errorf("would be %+v, report %+v", w, report)
	}
}

func TestWhatTheLogDoesNotHoldIsNotReplayed(t *testing.T) {
	t.Parallel()
	const secret = `{"tool_name":"Bash","key":"AKIAIOSFODNN7EXAMPLE"}`
	for sentence, c := range map[string]struct {
		mode   recorder.Data
		data   string
		reason string
		masked bool
	}{
		"all of it":              {recorder.Full, secret, "", false},
		"a mask for the secret":  {recorder.Redacted, secret, "", true},
		"no secret to be masked": {recorder.Redacted, bash, "", false},
		"a digest":               {recorder.Digest, bash, "digest only: the log does not hold its data (the router ran with --audit-data=digest)", false},
		"too much for a record":  {recorder.Full, `{"text":"` + strings.Repeat("x", 300<<10) + `"}`, "omitted: its data was too large for the log", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, router.Options{Audit: auditlog.Options{View: recorder.View{Data: c.mode}}})
			f.emit(c.data)
			f.hook(safe("tried"), always(chain.Result{}))
			results, report := f.replay()
			if got := reason(results[0]); got != c.reason {
				t.Errorf("refused for %q; want %q", got, c.reason)
			}
			if masked := report.Masked == 1; masked != c.masked {
				t.Errorf("report %+v; want masked %v", report, c.masked)
			}
			calls := f.seen()
			if called := len(calls) == 1; called != (c.reason == "") {
				t.Fatalf("called were %q", hooksOf(calls))
			}
			if c.masked && strings.Contains(string(calls[0].Data), "AKIA") {
				t.Errorf("the hook saw %s", calls[0].Data)
			}
		})
	}
}

func TestAQuestionIsComparedAndNotItsAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{Dispatch: dispatch.Options{NoApprovals: true}})
	f.hook(safe("asks"), always(chain.Question("May I?")))
	if _, err := f.agent.Execute(t.Context(), events.ToolPre, json.RawMessage(bash)); err != nil {
		t.Fatal(err)
	}
	results, report := f.replay()
	if r := results[0]; r.Was.Action != chain.AskUser || r.Was.By != "asks" || r.Differs != "" || report.Asked != 1 {
		t.Errorf("result %+v, report %+v", r, report)
	}
}

func TestReplayPublishesAndRecordsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.hook(safe("guard"), always(chain.Denial("no")))
	f.emit(bash)
	_, before := f.replay()
	traces := make(chan *nats.Msg, 100)
	sub, err := f.nc.ChanSubscribe("hooks.>", traces)
	if err != nil {
		t.Fatal(err)
	}
	_, after := f.replay()
	if before.Chains != 1 || after.Chains != 1 {
		t.Errorf("%d chains before a replay, %d after it; want 1", before.Chains, after.Chains)
	}
	if err := f.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	close(traces)
	for m := range traces {
		switch verb, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, "hooks."), "."); verb {
		case "explain", "registry", "call", "register", "router": // the last one: routers announce that they are alive
		default:
			t.Errorf("a message on %s", m.Subject)
		}
	}
}

func TestReplayWithoutARouterFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.emit(bash)
	elsewhere := f.log(evaluate.RecordingFilter{})
	if err := evaluate.Replay(t.Context(), elsewhere, evaluate.NewLive(busOf(t, f.nc, "other"), true).Replay, evaluate.ReplayOptions{}, func(evaluate.Replayed) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "start `hook-router`") {
		t.Errorf("Run: %v", err)
	}
}
