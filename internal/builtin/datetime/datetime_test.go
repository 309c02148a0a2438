package datetime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/builtin/datetime"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := datetime.New(kind.Section{}, datetime.Options{Timezone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := kind.WithTime(context.Background(), time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC))
	result, err := hook.Handler(ctx, events.Event{Name: events.PromptSubmit})
	fmt.Println(result.ContextInjection, err)
	// Output: Current date and time: Tuesday, 2026-02-03T05:05:06+01:00 <nil>
}

func TestTheRealClockIsRead(t *testing.T) {
	hook, err := datetime.New(kind.Section{}, datetime.Options{Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := hook.Handler(t.Context(), events.Event{Name: events.PromptSubmit})
	_, text, _ := strings.Cut(result.ContextInjection, ", ")
	at, parseErr := time.Parse(time.RFC3339, text)
	if err != nil || parseErr != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("%q, %v, %v", result.ContextInjection, err, parseErr)
	}
}

func TestAnUnknownTimezoneIsRefused(t *testing.T) {
	_, err := datetime.New(kind.Section{}, datetime.Options{Timezone: "Europe/Bielefeld"})
	if err == nil || !strings.Contains(err.Error(), "/timezone") {
		t.Errorf("New = %v; want an error at /timezone", err)
	}
}
