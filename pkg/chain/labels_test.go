package chain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestLabelsOfAResult(t *testing.T) {
	t.Parallel()
	r, err := chain.ParseResult([]byte(`{"labels":["secret-read","x.1_a"]}`))
	if want := []string{"secret-read", "x.1_a"}; err != nil || !slices.Equal(r.Labels, want) {
		t.Errorf("ParseResult = %+v, %v", r, err)
	}
	if got := string(r.Append(nil)); got != `{"action":"continue","labels":["secret-read","x.1_a"]}` {
		t.Errorf("Append = %s", got)
	}
	many := strings.TrimSuffix(strings.Repeat(`"a",`, events.MaxLabels+1), ",")
	for _, reply := range []string{
		`{"labels":"a"}`, `{"labels":[1]}`, `{"labels":[""]}`, `{"labels":["A"]}`, `{"labels":["a,b"]}`, `{"labels":["-a"]}`, `{"labels":["a b"]}`, `{"labels":["é"]}`,
		`{"labels":["` + strings.Repeat("a", events.MaxLabelLen+1) + `"]}`, `{"labels":[` + many + `]}`,
	} {
		if r, err := chain.ParseResult([]byte(reply)); err == nil {
			t.Errorf("ParseResult(%s) = %+v; want an error", reply, r)
		}
	}
	for _, reply := range []string{`{"unlabel":["a"]}`, `{"action":"modify","unlabel":["a"]}`, `{"action":"ask_user","unlabel":["A"]}`} {
		if r, err := chain.ParseResult([]byte(reply)); err != nil || r.Unlabel != nil {
			t.Errorf("ParseResult(%s) = %+v, %v; want nothing removed", reply, r, err)
		}
	}
}

// labeler is a hook that sees the labels that are there, and adds its own; it denies the
// label that it refuses.
func labeler(id, adds, refuses string, effect chain.Effect, saw *[]string) *chain.Entry {
	return &chain.Entry{
		Registration: chain.Registration{ID: id, Effect: effect, Match: "x"},
		Condition: func(v *chain.View) (bool, error) {
			return !slices.Contains(events.Event{Extensions: v.Extensions}.Labels(), "skip-"+id), nil
		},
		Hook: func(_ context.Context, ev events.Event) (chain.Result, error) {
			if saw != nil {
				*saw = append(*saw, id+":"+strings.Join(ev.Labels(), ","))
			}
			r := chain.Result{}
			if refuses != "" && slices.Contains(ev.Labels(), refuses) {
				r = chain.Denial(id + " refuses " + refuses)
			}
			if adds != "" {
				r.Labels = []string{adds}
			}
			return r, nil
		},
	}
}

func TestALaterHookSeesTheLabelsOfEarlierOnes(t *testing.T) {
	t.Parallel()
	var saw []string
	entries := []*chain.Entry{labeler("a", "secret-read", "", "", &saw), labeler("b", "skip-c", "", "", &saw), labeler("c", "", "", "", &saw), labeler("d", "", "secret-read", "", &saw)}
	ev := events.Event{Name: "tool:pre", Session: "s", Data: []byte("{}")}.WithLabels("old")
	out, err := chain.Run(t.Context(), entries, ev, chain.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a:old", "b:old,secret-read", "d:old,secret-read,skip-c"}
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Errorf("hooks saw (-want +got):\n%s", diff)
	}
	if out.DeniedBy != "d" || !slices.Equal(out.Labels, []string{"secret-read", "skip-c"}) || len(out.Result.Labels) != 0 {
		t.Errorf("%+v", out)
	}
	if !slices.Equal(ev.Labels(), []string{"old"}) {
		t.Errorf("the event was changed: %v", ev.Labels())
	}
}

// The outcome of neighbors that are called at the same time is that of one by one, whatever
// labels they add.
func TestLabelsOfNeighborsAreAsOneByOne(t *testing.T) {
	t.Parallel()
	labels := []string{"", "", "x", "y", "skip-1", "skip-3"}
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var entries []*chain.Entry
		for i := range 2 + rnd.IntN(6) {
			effect := chain.Validates
			if rnd.IntN(5) == 0 {
				effect = ""
			}
			refuses := ""
			if rnd.IntN(4) == 0 {
				refuses = labels[rnd.IntN(4)]
			}
			entries = append(entries, labeler(fmt.Sprint(i), labels[rnd.IntN(len(labels))], refuses, effect, nil))
		}
		ev := events.Event{Name: "tool:pre", Session: "s", Data: []byte("{}")}
		var got [2]string
		for i, plan := range []chain.Plan{{}, {OneByOne: true}} {
			out, err := chain.Run(t.Context(), entries, ev, plan)
			if err != nil {
				t.Fatal(err)
			}
			var skipped, called []string
			for _, e := range out.Skipped {
				skipped = append(skipped, e.ID)
			}
			for _, c := range out.Calls {
				called = append(called, c.Entry.ID)
			}
			got[i] = fmt.Sprint(string(out.Result.Append(nil)), out.DeniedBy, out.Labels, skipped, called)
		}
		if got[0] != got[1] {
			t.Fatalf("seed %d:\nat once:    %s\none by one: %s", seed, got[0], got[1])
		}
	}
}
