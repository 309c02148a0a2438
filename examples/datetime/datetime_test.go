package datetime

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func clock() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.FixedZone("CET", 3600)) }

func TestHookInjectsTheTime(t *testing.T) {
	got, err := Hook(Options{Now: clock})(t.Context(), events.Event{Name: events.PromptSubmit})
	if err != nil {
		t.Fatal(err)
	}
	want := chain.Result{
		Action: chain.InjectContext, ContextInjection: "Current date/time: 2026-02-03T04:05:06+01:00", SuppressOutput: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHookReadsTheRealClockByDefault(t *testing.T) {
	got, err := Hook(Options{})(t.Context(), events.Event{Name: events.PromptSubmit})
	_, text, _ := strings.Cut(got.ContextInjection, ": ")
	at, parseErr := time.Parse(time.RFC3339, text)
	if err != nil || parseErr != nil || time.Since(at) > time.Minute {
		t.Errorf("%q, %v, %v", got.ContextInjection, err, parseErr)
	}
}

func ExampleHook() {
	hook := Hook(Options{Now: clock})
	result, err := hook(context.Background(), events.Event{Name: events.PromptSubmit})
	fmt.Println(result.ContextInjection, err)
	// Output: Current date/time: 2026-02-03T04:05:06+01:00 <nil>
}
