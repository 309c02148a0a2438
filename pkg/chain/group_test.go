package chain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func (f fake) validating() fake { f.Effect = Validates; return f }

// after answers when so much time has passed, or the call is over.
func (f fake) after(d time.Duration) fake {
	return f.running(func(ctx context.Context, _ events.Event) (Result, error) {
		select {
		case <-time.After(d):
			return f.result, f.err
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	})
}

// random is a hook with a random answer, which takes a random time.
func random(r *rand.Rand, i int) fake {
	f := hook(fmt.Sprintf("h%d", i), Result{})
	f.TimeoutMS = 50
	f.Priority = r.IntN(3)
	if r.IntN(4) > 0 {
		f = f.validating()
	}
	if r.IntN(3) == 0 {
		f = f.closed()
	}
	switch r.IntN(16) {
	case 0:
		f.result = Denial(fmt.Sprint("no ", i))
	case 1, 2:
		f.result = Injection(fmt.Sprint("text ", i))
	case 3:
		f.result = Question(fmt.Sprint("may I ", i))
	case 4, 5:
		f.result = modified(fmt.Sprintf(`{"n":%d}`, i))
	case 6:
		f.err = errBroken
	case 7:
		f.err = ErrRemoved
	case 8:
		f.err = ErrNoResponder
	case 9:
		f = f.want(false, nil)
	case 10:
		f = f.want(false, errBroken)
	case 11:
		f.result = with(Question("with data"), `{"q":1}`)
	case 12:
		f.result.UserMessage, f.result.SuppressOutput = fmt.Sprint("look ", i), true
	case 13:
		f.Mode = []Mode{Shadow, Observe}[r.IntN(2)]
	case 14:
		f.err = Abort{errBroken}
	}
	return f.after(time.Duration(r.IntN(60))*time.Millisecond + time.Microsecond) // never as long as its time-out: either might win
}

// Calling neighbors at the same time decides what calling them one by one does.
func TestNeighborsThatValidateDecideAsOneByOne(t *testing.T) {
	n := testkit.Volume(t, 2_000, 10_000, 100_000)
	var atOnce, discarded int
	for seed := range n {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		fakes := make([]fake, 1+r.IntN(12))
		unanswered := 0 // hooks that nobody answers for: a call of them is not discarded
		for i := range fakes {
			if fakes[i] = random(r, i); errors.Is(fakes[i].err, ErrNoResponder) {
				unanswered++
			}
		}
		synctest.Test(t, func(t *testing.T) {
			var j, k journal
			var shadows, others []string
			run := func(entries []*Entry, oneByOne bool, shadows *[]string) (Outcome, time.Duration) {
				began := time.Now()
				out, err := Run(t.Context(), entries, toolPre(`{"n":0}`), Plan{OneByOne: oneByOne, Shadow: func(e *Entry, ev events.Event) { *shadows = append(*shadows, e.ID+string(ev.Data)) }})
				if err != nil {
					out.Result.Reason = err.Error()
				}
				return out, time.Since(began)
			}
			got, took := run(chainOf(&j, fakes), false, &shadows)
			want, longer := run(chainOf(&k, fakes), true, &others)
			if diff := cmp.Diff(summary(want), summary(got)); diff != "" {
				t.Fatalf("seed %d (-one by one +at the same time):\n%s", seed, diff)
			}
			if !slices.Equal(shadows, others) || took > longer {
				t.Fatalf("seed %d: shadows %q, want %q; it took %v, one by one %v", seed, shadows, others, took, longer)
			}
			extra := len(j.seen()) - len(k.seen()) - len(got.InVain)
			if extra < 0 || extra > unanswered || len(want.InVain) > 0 {
				t.Fatalf("seed %d: %d were called, one by one %d, and %d discarded", seed, len(j.seen()), len(k.seen()), len(got.InVain))
			}
			if took < longer {
				atOnce++
			}
			discarded += len(got.InVain)
		})
	}
	if atOnce < n/10 || discarded < n/100 {
		t.Errorf("of %d chains %d were faster, and %d calls were discarded: that tests little", n, atOnce, discarded)
	}
}

// decided is what agents and people see of an outcome.
type decided struct {
	Result          Result
	DeniedBy, Data  string
	Called, Skipped []string
	Failures        []Failure
	Results         []Result
	Open            []bool
}

func summary(out Outcome) decided {
	d := decided{Result: out.Result, DeniedBy: out.DeniedBy, Data: string(out.Data)}
	for _, call := range out.Calls {
		d.Called, d.Failures = append(d.Called, call.Entry.ID), append(d.Failures, call.Failure)
		d.Results, d.Open = append(d.Results, call.Result), append(d.Open, call.FailedOpen)
	}
	for _, entry := range out.Skipped {
		d.Skipped = append(d.Skipped, entry.ID)
	}
	return d
}

func TestAGroupTakesAsLongAsItsSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fakes []fake
		for i := range 40 {
			fakes = append(fakes, hook(fmt.Sprintf("h%d", i), Result{}).validating().after(time.Second))
		}
		began := time.Now()
		out, err := Run(t.Context(), chainOf(new(journal), fakes), toolPre(`{}`), Plan{})
		if err != nil || len(out.Calls) != 40 {
			t.Fatalf("%+v, %v", out, err)
		}
		if took := time.Since(began); took != 3*time.Second { // 16, 16 and 8
			t.Errorf("40 hooks of a second took %v", took)
		}
	})
}

func TestADenialDoesNotWaitForThoseAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes := []fake{
			hook("a", Result{}).validating().after(time.Second), hook("b", Denial("no")).validating(),
			hook("slow", Denial("late")).validating().after(5 * time.Second), hook("change", modified(`{}`)),
		}
		var j journal
		began := time.Now()
		out, err := Run(t.Context(), chainOf(&j, fakes), toolPre(`{}`), Plan{})
		if err != nil || out.DeniedBy != "b" || time.Since(began) != time.Second {
			t.Errorf("%+v after %v, %v", out, time.Since(began), err)
		}
		if len(out.InVain) != 1 || out.InVain[0].Entry.ID != "slow" {
			t.Errorf("discarded: %v", out.InVain)
		}
		if slices.Contains(j.seen(), "change{}") {
			t.Error("a hook that changes the event was called after a denial")
		}
	})
}

func TestAHookThatValidatesChangesNothing(t *testing.T) {
	for _, result := range []Result{modified(`{"n":2}`), {Action: Modify}, with(Question("?"), `{"n":2}`), with(Injection("text"), `{"n":2}`)} {
		out, err := Run(t.Context(), chainOf(new(journal), []fake{hook("a", result).validating().closed()}), toolPre(`{"n":1}`), Plan{})
		if err != nil || out.DeniedBy != "a" || string(out.Data) != `{"n":1}` || out.Calls[0].Failure != FailedInvalid {
			t.Errorf("%+v: %+v, %v", result, out, err)
		}
	}
}

func TestAGroupEndsWithTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes := []fake{hook("a", Result{}).validating().after(2 * time.Second), hook("b", Result{}).validating().after(2 * time.Second)}
		_, err := Run(t.Context(), chainOf(new(journal), fakes), toolPre(`{}`), Plan{Until: time.Now().Add(time.Second)})
		if !errors.Is(err, ErrDeadline) {
			t.Error(err)
		}
	})
}
