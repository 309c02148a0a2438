package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func keep(t *testing.T, s *session.Store, since time.Time, text string) bool {
	t.Helper()
	kept, err := s.Keep(t.Context(), "s1", since, chain.ContextInjection{Content: text, Role: chain.RoleSystem, HookID: "lint"})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func taken(t *testing.T, s *session.Store, eventID string) (list []string) {
	t.Helper()
	_, err := s.Spend(t.Context(), "s1", events.PromptSubmit, eventID, func(_ verdict.Limits, _ int, late []chain.ContextInjection) verdict.Verdict {
		list = nil
		for _, l := range late {
			list = append(list, l.Content)
		}
		return verdict.Verdict{}
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Late injections are bounded in number and bytes; the newest stay.
func TestLateInjectionsAreBounded(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	for i := range 17 {
		keep(t, store, time.Now(), fmt.Sprint("text ", i))
	}
	if got := taken(t, store, "e1"); len(got) != 16 || got[0] != "text 1" || got[15] != "text 16" {
		t.Errorf("kept %q", got)
	}
	keep(t, store, time.Now(), "old")
	for range 4 {
		keep(t, store, time.Now(), strings.Repeat("x", 8<<10))
	}
	if got := taken(t, store, "e2"); len(got) != 4 || len(got[0]) != 8<<10 {
		t.Errorf("kept %d, the first of %d bytes", len(got), len(got[0]))
	}
	if keep(t, store, time.Now(), strings.Repeat("x", 33<<10)) {
		t.Error("kept a text larger than all may be")
	}
}

// A late injection waits an hour, and no longer.
func TestLateInjectionsExpire(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	for _, text := range []string{"too old", "old"} {
		keep(t, store, time.Now(), text)
	}
	err := store.Update(t.Context(), "s1", func(s *session.State) bool {
		s.Late[0].Came = time.Now().Add(-time.Hour - time.Second)
		s.Late[1].Came = time.Now().Add(-time.Hour + time.Minute)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := taken(t, store, "e1"); len(got) != 1 || got[0] != "old" {
		t.Errorf("given %q; want what came less than an hour ago", got)
	}
}

// A session's end drops what waits, and what comes later for an event of before it.
func TestLateInjectionsEndWithTheSession(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	before := time.Now()
	keep(t, store, before, "waits")
	if late, err := store.Begin(t.Context(), "s1", events.PromptSubmit); !late || err != nil {
		t.Errorf("a turn begins: %v, %v", late, err)
	}
	if err := store.End(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if keep(t, store, before, "comes later") {
		t.Error("kept for a session that had ended")
	}
	if got := taken(t, store, "e1"); got != nil {
		t.Errorf("its next life was given %q", got)
	}
}
