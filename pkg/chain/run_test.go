package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/events"
)

var errBroken = errors.New("broken")

func TestRun(t *testing.T) {
	const d = `{"n":1}`
	rich := Result{
		Action: InjectContext, ContextInjection: "one", ContextInjectionRole: RoleUser, Ephemeral: true, SuppressOutput: true,
		Reason: "because", UserMessage: "look", UserMessageLevel: LevelWarning, Data: []byte(`{"own":1}`),
	}
	appending := Injection("two")
	appending.AppendToLastToolResult, appending.ContextInjectionRole, appending.Data = true, RoleAssistant, []byte(`{"own":2}`)
	for sentence, c := range map[string]struct {
		hooks    []fake
		calls    []string
		want     Result
		deniedBy string
	}{
		"no hook: the data as it is": {nil, nil, continued(d), ""},
		"a lower priority runs first, a negative one before zero": {
			[]fake{hook("c", Result{}).at(5), hook("b", Result{}), hook("a", Result{}).at(-5)},
			[]string{"a" + d, "b" + d, "c" + d},
			continued(d), "",
		},
		"equal priorities run in the order of registration, whatever their names": {
			[]fake{hook("z", Result{}), hook("a", Result{}), hook("m", Result{})},
			[]string{"z" + d, "a" + d, "m" + d},
			continued(d), "",
		},
		"the first denial ends the chain": {
			[]fake{hook("a", Denial("no")), hook("b", Denial("never"))}, []string{"a" + d}, Denial("no"), "a",
		},
		"a denial is returned as it was given, without the chained data": {
			[]fake{hook("a", modified(`{"n":2}`)), hook("b", Denial(""))}, []string{"a" + d, `b{"n":2}`}, Denial(""), "b",
		},
		"a denial with data of its own keeps it": {
			[]fake{hook("a", with(Denial("x"), `{"why":1}`))}, []string{"a" + d}, with(Denial("x"), `{"why":1}`), "a",
		},
		"a modification is what the next hooks get, and the chain answers": {
			[]fake{hook("a", modified(`{"n":2}`)), hook("b", modified(`{"m":3}`)), hook("c", Result{})},
			[]string{"a" + d, `b{"n":2}`, `c{"m":3}`},
			continued(`{"m":3}`), "",
		},
		"a modification to the empty object counts": {
			[]fake{hook("a", modified(`{}`)), hook("b", Result{})}, []string{"a" + d, "b{}"}, continued(`{}`), "",
		},
		"a modification without data changes nothing": {
			[]fake{hook("a", Result{Action: Modify}), hook("b", Result{})}, []string{"a" + d, "b" + d}, continued(d), "",
		},
		"data of other actions does not chain": {
			[]fake{
				hook("a", with(Result{}, `{"x":1}`)), hook("b", with(Injection("text"), `{"x":2}`)),
				hook("c", with(Result{Action: Continue}, `{"x":3}`)), hook("d", Result{}),
			},
			[]string{"a" + d, "b" + d, "c" + d, "d" + d},
			with(Injection("text"), `{"x":2}`), "",
		},
		"the first approval request wins, and the chain goes on after it": {
			[]fake{hook("a", Question("one?")), hook("b", Question("two?")), hook("c", modified(`{"n":2}`))},
			[]string{"a" + d, "b" + d, "c" + d},
			with(Question("one?"), `{"n":2}`), "",
		},
		"an approval request keeps data of its own": {
			[]fake{hook("a", with(Question("one?"), `{"q":1}`)), hook("b", modified(`{"n":2}`))},
			[]string{"a" + d, "b" + d},
			with(Question("one?"), `{"q":1}`), "",
		},
		"one injection is returned as it is": {
			[]fake{hook("a", rich)}, []string{"a" + d}, rich, "",
		},
		"one injection without data gets the chained": {
			[]fake{hook("a", Injection("text")), hook("b", modified(`{}`))}, []string{"a" + d, "b" + d}, with(Injection("text"), `{}`), "",
		},
		"several injections are joined by a blank line, with the settings of the first, appended if any is": {
			[]fake{hook("a", rich), hook("b", appending), hook("c", Injection("three"))},
			[]string{"a" + d, "b" + d, "c" + d},
			Result{
				Action: InjectContext, Data: []byte(d), ContextInjection: "one\n\ntwo\n\nthree",
				ContextInjectionRole: RoleUser, Ephemeral: true, SuppressOutput: true, AppendToLastToolResult: true,
			},
			"",
		},
		"an injection without text counts as continue": {
			[]fake{hook("a", Injection("")), hook("b", Injection("text"))}, []string{"a" + d, "b" + d}, with(Injection("text"), d), "",
		},
		"a failure is passed over, and modifications before it are kept": {
			[]fake{hook("a", modified(`{"n":2}`)), hook("b", modified(`{"n":3}`)).failing(errBroken), hook("c", Result{})},
			[]string{"a" + d, `b{"n":2}`, `c{"n":2}`},
			continued(`{"n":2}`), "",
		},
		"a failure of a guard denies and ends the chain": {
			[]fake{hook("guard", Result{}).failing(errBroken).closed(), hook("b", Result{})},
			[]string{"guard" + d},
			Denial(`hook "guard" failed (error) and its on_failure is deny`), "guard",
		},
		"the denial of a failed guard names it as people do": {
			[]fake{hook("guard", Result{}).called("The Guard").failing(errBroken).closed()},
			[]string{"guard" + d},
			Denial(`hook "The Guard" failed (error) and its on_failure is deny`), "guard",
		},
		"a name stands in that denial as it is written": {
			[]fake{hook("guard", Result{}).called("C:\\q \"é\u3000名\"").failing(errBroken).closed()},
			[]string{"guard" + d},
			Denial("hook \"C:\\q \"é\u3000名\"\" failed (error) and its on_failure is deny"), "guard",
		},
		"a denial is returned as it is": {
			[]fake{hook("a", Result{Action: Deny, Blank: BlankReason, ApprovalPrompt: "p"}), hook("b", Result{})},
			[]string{"a" + d},
			Result{Action: Deny, Blank: BlankReason, ApprovalPrompt: "p"},
			"a",
		},
		"a shadow hook is not called in the chain, an observer neither": {
			[]fake{hook("a", Denial("a")).in(Shadow), hook("b", Denial("b")).in(Observe), hook("c", Result{}).in(Enforce)},
			[]string{"c" + d},
			continued(d), "",
		},
		"a hook whose match is false is not called": {
			[]fake{hook("a", Denial("a")).want(false, nil), hook("b", Result{}).want(true, nil)}, []string{"b" + d}, continued(d), "",
		},
		"a match that fails lets the event pass": {
			[]fake{hook("a", Denial("a")).want(false, errBroken), hook("b", Result{})}, []string{"b" + d}, continued(d), "",
		},
		"a match of a guard that fails denies": {
			[]fake{hook("a", Result{}).want(true, errBroken).closed(), hook("b", Result{})},
			nil, Denial(`hook "a" failed (match_error) and its on_failure is deny`), "a",
		},
		"a panic is a failure": {
			[]fake{hook("a", Result{}).running(func(context.Context, events.Event) (Result, error) { panic("oh") }), hook("b", Result{})},
			[]string{"a" + d, "b" + d},
			continued(d), "",
		},
		"a panic of a guard denies": {
			[]fake{hook("a", Result{}).closed().running(func(context.Context, events.Event) (Result, error) { panic("oh") })},
			[]string{"a" + d},
			Denial(`hook "a" failed (error) and its on_failure is deny`), "a",
		},
		"an action that is none is an invalid result": {
			[]fake{hook("a", Result{Action: "allow"}).closed()},
			[]string{"a" + d},
			Denial(`hook "a" failed (invalid_result) and its on_failure is deny`), "a",
		},
		"data that is no object is an invalid result": {
			[]fake{hook("a", modified(`[1]`)), hook("b", modified(`{"a":1,"a":2}`)), hook("c", modified(`nonsense`)), hook("d", Result{})},
			[]string{"a" + d, "b" + d, "c" + d, "d" + d},
			continued(d), "",
		},
		"data that is null is none": {
			[]fake{hook("a", modified(`null`)), hook("b", Result{})}, []string{"a" + d, "b" + d}, continued(d), "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			j := &journal{}
			out, err := Run(t.Context(), chainOf(j, c.hooks), toolPre(d), Plan{Call: InProcess})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.calls, j.seen()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			out.Result.ContextInjections = nil // TestRunListsInjections
			if diff := cmp.Diff(plain(c.want), plain(out.Result)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if out.DeniedBy != c.deniedBy {
				t.Errorf("denied by %q, want %q", out.DeniedBy, c.deniedBy)
			}
		})
	}
}

// plain is a result for comparing: its bytes on the wire.
func plain(r Result) string { return string(r.Append(nil)) }

func TestPrecedenceHoldsInEveryOrder(t *testing.T) {
	answers := map[string]Result{
		"deny": Denial("no"), "ask": Question("ask?"), "inject": Injection("text"), "modify": modified(`{"m":1}`), "continue": {},
	}
	winner := func(order []string) Action {
		for _, c := range []struct {
			id     string
			action Action
		}{{"deny", Deny}, {"ask", AskUser}, {"inject", InjectContext}} {
			if slices.Contains(order, c.id) {
				return c.action
			}
		}
		return Continue
	}
	n := 0
	permute([]string{"deny", "ask", "inject", "modify", "continue"}, func(order []string) {
		for k := range len(order) + 1 { // every beginning of every order: every subset in every order
			n++
			j, denied := &journal{}, k
			var hooks []fake
			for i, id := range order[:k] {
				hooks = append(hooks, hook(id, answers[id]))
				if id == "deny" {
					denied = i + 1
				}
			}
			out, err := Run(t.Context(), chainOf(j, hooks), toolPre(`{}`), Plan{Call: InProcess})
			if err != nil || out.Result.Action != winner(order[:k]) {
				t.Errorf("%v: %q, %v", order[:k], out.Result.Action, err)
			}
			if len(j.seen()) != denied {
				t.Errorf("%v: called %q", order[:k], j.seen())
			}
			wantData := "{}"
			for _, id := range order[:denied] {
				if id == "modify" {
					wantData = `{"m":1}`
				}
			}
			if string(out.Data) != wantData || out.Result.Action != Deny && string(out.Result.Data) != wantData {
				t.Errorf("%v: chained %s, answered %s", order[:k], out.Data, out.Result.Data)
			}
		}
	})
	t.Logf("volume: %d chains", n)
}

// permute calls do with every order of the list.
func permute(list []string, do func([]string)) {
	var next func(i int)
	next = func(i int) {
		if i == len(list) {
			do(list)
			return
		}
		for k := i; k < len(list); k++ {
			list[i], list[k] = list[k], list[i]
			next(i + 1)
			list[i], list[k] = list[k], list[i]
		}
	}
	next(0)
}

func TestFailureClasses(t *testing.T) {
	for sentence, c := range map[string]struct {
		err    error
		want   Failure
		called bool
	}{
		"an error":          {errBroken, FailedError, true},
		"a time-out":        {fmt.Errorf("ask: %w", context.DeadlineExceeded), FailedTimeout, true},
		"nobody there":      {fmt.Errorf("ask: %w", ErrNoResponder), FailedNoResponder, false},
		"no result at all":  {fmt.Errorf("read: %w", ErrInvalidResult), FailedInvalid, true},
		"a cancelled hook":  {context.Canceled, FailedError, true},
		"no failure at all": {nil, "", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, policy := range []Policy{"", FailOpen, FailClosed} {
				j := &journal{}
				first := hook("a", Injection("ignored where it failed")).failing(c.err)
				first.OnFailure = policy
				out, err := Run(t.Context(), chainOf(j, []fake{first, hook("b", Result{})}), toolPre(`{}`), Plan{})
				if err != nil {
					t.Fatal(err)
				}
				closes := c.err != nil && policy == FailClosed
				call := out.Calls[0]
				if call.Failure != c.want || !errors.Is(call.Err, c.err) || call.Called() != c.called || call.FailedOpen != (c.err != nil && !closes) {
					t.Errorf("call is %+v", call)
				}
				if closes != (len(j.seen()) == 1) || closes != (out.DeniedBy == "a") || closes != out.Result.Denied() {
					t.Errorf("on_failure %q: called %q, decided %+v", policy, j.seen(), out.Result)
				}
				if c.err != nil && out.Result.ContextInjection != "" {
					t.Errorf("what came with a failure was used: %+v", out.Result)
				}
			}
		})
	}
}

func TestAHookThatWasRemovedMeanwhileIsSkipped(t *testing.T) {
	for _, policy := range []Policy{FailOpen, FailClosed} {
		j := &journal{}
		gone := hook("gone", Result{}).failing(fmt.Errorf("ask: %w", ErrRemoved))
		gone.OnFailure = policy
		out, err := Run(t.Context(), chainOf(j, []fake{gone, hook("b", Result{})}), toolPre(`{}`), Plan{})
		if err != nil || out.Result.Denied() || len(out.Calls) != 1 || len(out.Skipped) != 1 || out.Skipped[0].ID != "gone" {
			t.Errorf("on_failure %q: decided %+v, skipped %v, %v", policy, out.Result, out.Skipped, err)
		}
	}
	if class := FailureOf(ErrRemoved); class != FailedNoResponder {
		t.Errorf("where there is no chain it counts as %q", class)
	}
}

func TestSkippedHooksAreNamed(t *testing.T) {
	j := &journal{}
	out, err := Run(t.Context(), chainOf(j, []fake{
		hook("a", Result{}).want(false, nil), hook("b", Result{}), hook("c", Result{}).want(false, errBroken),
	}), toolPre(`{}`), Plan{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Skipped) != 1 || out.Skipped[0].ID != "a" || len(out.Calls) != 2 {
		t.Errorf("skipped %v, calls %v", out.Skipped, out.Calls)
	}
	if call := out.Calls[1]; call.Failure != FailedMatch || call.Called() || !call.FailedOpen || call.Took != 0 {
		t.Errorf("call of the failed match: %+v", call)
	}
	if diff := cmp.Diff([]string{"b{}"}, j.seen()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestMatchSeesTheDataAtItsPlace(t *testing.T) {
	var seen []string
	looking := func(id string, result Result) fake {
		f := hook(id, result)
		f.wants = func(v *View) (bool, error) {
			decoded := v.Decoded(func(v *View) any { seen = append(seen, "decode"); return string(v.Data) })
			seen = append(seen, id+decoded.(string))
			return true, nil
		}
		return f
	}
	_, err := Run(t.Context(), chainOf(&journal{}, []fake{
		looking("a", Result{}), looking("b", modified(`{"n":2}`)), looking("c", Result{}), looking("d", Result{}),
	}), toolPre(`{}`), Plan{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"decode", "a{}", "b{}", "decode", `c{"n":2}`, `d{"n":2}`}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("what matches saw (-want +got):\n%s", diff)
	}
}

func TestShadowHooksAreToldAtTheirPlaceAndNeverDecide(t *testing.T) {
	j := &journal{}
	var told []string
	plan := Plan{Shadow: func(entry *Entry, ev events.Event) { told = append(told, entry.ID+string(ev.Data)) }}
	out, err := Run(t.Context(), chainOf(j, []fake{
		hook("a", Result{}).in(Shadow), hook("b", modified(`{"n":2}`)), hook("c", Denial("c")).in(Shadow),
		hook("d", Result{}).in(Shadow).want(false, nil), hook("e", Denial("e")).in(Observe),
		hook("f", Denial("f")), hook("g", Result{}).in(Shadow),
	}), toolPre(`{}`), plan)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a{}", `c{"n":2}`}, told); diff != "" {
		t.Errorf("shadow hooks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b{}", `f{"n":2}`}, j.seen()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if out.DeniedBy != "f" || len(out.Calls) != 2 {
		t.Errorf("outcome %+v", out)
	}
}

// stuck is a hook that ignores its context until release is closed.
func stuck(release <-chan struct{}) Hook {
	return func(context.Context, events.Event) (Result, error) { <-release; return Denial("too late"), nil }
}

func TestHookThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	j := &journal{}
	out, err := Run(t.Context(), chainOf(j, []fake{
		hook("a", Result{}).within(20).running(stuck(release)), hook("b", Injection("text")),
	}), toolPre(`{}`), Plan{Call: InProcess})
	if err != nil {
		t.Fatal(err)
	}
	if out.Calls[0].Failure != FailedTimeout || out.Calls[0].Took < 20*time.Millisecond || out.Result.ContextInjection != "text" {
		t.Errorf("outcome %+v", out)
	}
}

func TestOverallDeadlineDecidesNothing(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for sentence, hooks := range map[string][]fake{
		"a hook that is ignored where it fails": {hook("a", Result{}).running(stuck(release)), hook("b", Result{})},
		"a guard":                               {hook("a", Result{}).closed().running(stuck(release)), hook("b", Result{})},
		"the last hook of the chain":            {hook("a", Result{}).running(stuck(release))},
		"a hook that gives up itself":           {hook("a", Result{}).closed().running(func(ctx context.Context, _ events.Event) (Result, error) { <-ctx.Done(); return Result{}, ctx.Err() })},
	} {
		t.Run(sentence, func(t *testing.T) {
			j := &journal{}
			out, err := Run(t.Context(), chainOf(j, hooks), toolPre(`{}`), Plan{Call: InProcess, Until: time.Now().Add(20 * time.Millisecond)})
			if !errors.Is(err, ErrDeadline) || out.Result.Action != "" || out.DeniedBy != "" {
				t.Errorf("error %v, outcome %+v", err, out)
			}
			if len(j.seen()) != 1 {
				t.Errorf("called %q", j.seen())
			}
		})
	}
}

func TestDeadlineBetweenTwoHooksDecidesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	j := &journal{}
	_, err := Run(ctx, chainOf(j, []fake{
		hook("a", Result{}).running(func(ctx context.Context, _ events.Event) (Result, error) { <-ctx.Done(); return Result{}, nil }),
		hook("b", Result{}),
	}), toolPre(`{}`), Plan{})
	if !errors.Is(err, ErrDeadline) || len(j.seen()) != 1 {
		t.Errorf("error %v, called %q", err, j.seen())
	}
}

func TestCancelledChainReturnsTheCause(t *testing.T) {
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	j := &journal{}
	if _, err := Run(ctx, chainOf(j, []fake{hook("a", Result{})}), toolPre(`{}`), Plan{}); !errors.Is(err, cause) || len(j.seen()) != 0 {
		t.Errorf("error %v, called %q", err, j.seen())
	}
}

func TestRecoveredNamesTheHook(t *testing.T) {
	call := Recovered(func(context.Context, *Entry, events.Event) (Result, error) { panic("oh") })
	_, err := call(t.Context(), &Entry{Registration: Registration{ID: "a"}}, toolPre(`{}`))
	if err == nil || !strings.Contains(err.Error(), `hook "a" panicked: oh`) {
		t.Errorf("error is %v", err)
	}
}

func TestCollect(t *testing.T) { synctest.Test(t, collects) }

func collects(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	const d = `{"n":1}`
	j := &journal{}
	entries := chainOf(j, []fake{
		hook("silent", Result{}).at(1), hook("first", with(Denial("no"), `{"f":1}`)).at(-1), hook("empty", modified(`{}`)),
		hook("broken", with(Result{}, `{"b":1}`)).failing(errBroken), hook("shadow", modified(`{"s":1}`)).in(Shadow),
		hook("observer", modified(`{"o":1}`)).in(Observe), hook("unwanted", modified(`{"u":1}`)).want(false, nil),
		hook("unsure", modified(`{"u":2}`)).want(false, errBroken), hook("stuck", Result{}).closed().within(30_000).running(stuck(release)),
		hook("panics", Result{}).running(func(context.Context, events.Event) (Result, error) { panic("oh") }),
		// Longer than its own time-out, which does not apply.
		hook("slow", Result{}).within(1).running(func(ctx context.Context, _ events.Event) (Result, error) {
			select {
			case <-time.After(20 * time.Millisecond):
				return modified(`{"slow":1}`), nil
			case <-ctx.Done():
				return Result{}, ctx.Err()
			}
		}),
	})
	began := time.Now()
	var got []string
	for _, c := range Collect(t.Context(), entries, toolPre(d), 300*time.Millisecond, InProcess) {
		line := c.Entry.ID + string(c.Data)
		if c.Skipped {
			line += " skipped"
		}
		if c.Err != nil {
			line += " failed"
		}
		got = append(got, line)
	}
	want := []string{`first{"f":1}`, "empty{}", "broken failed", "unwanted skipped", "unsure failed", "stuck failed", "panics failed", `slow{"slow":1}`, "silent"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("collected (-want +got):\n%s", diff)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s: one time-out is enough", took)
	}
	for _, call := range j.seen() {
		if !strings.HasSuffix(call, d) || strings.HasPrefix(call, "un") || strings.HasPrefix(call, "shadow") || strings.HasPrefix(call, "observer") {
			t.Errorf("called %s", call)
		}
	}
}
