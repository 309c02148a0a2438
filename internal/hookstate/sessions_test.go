package hookstate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/hookstate"
)

func ExampleOf() {
	type reads struct{ Count int }
	sessions := hookstate.Of[reads](&hookstate.Memory{}, "reads.my-hook")
	ctx := context.Background()
	for range 2 {
		if err := sessions.Update(ctx, "s1", func(r *reads) bool { r.Count++; return true }); err != nil {
			fmt.Println(err)
		}
	}
	r, err := sessions.Get(ctx, "s1")
	fmt.Println(r.Count, err, sessions.Forget(ctx, "s1"))
	// Output: 2 <nil> <nil>
}

func TestSessionsAreKeptApart(t *testing.T) {
	var store hookstate.Memory
	one, other := hookstate.Of[int](&store, "a.x"), hookstate.Of[int](&store, "a.y")
	set := func(s hookstate.Sessions[int], session string, to int) {
		if err := s.Update(t.Context(), session, func(n *int) bool { *n = to; return true }); err != nil {
			t.Fatal(err)
		}
	}
	set(one, "a b/c.>", 1)
	set(one, "", 2)
	set(other, "", 3)
	sum := 0
	if err := one.Each(t.Context(), func(n int) bool { sum += n; return true }); err != nil || sum != 3 {
		t.Errorf("the values are %d together, %v; want 3", sum, err)
	}
	if n, err := one.Get(t.Context(), "a b/c.>"); n != 1 || err != nil {
		t.Errorf("Get = %d, %v", n, err)
	}
	if err := one.Forget(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if n, err := other.Get(t.Context(), ""); n != 3 || err != nil || store.Len() != 2 {
		t.Errorf("another hook's value is %d, %v, of %d", n, err, store.Len())
	}
	if err := one.Update(t.Context(), "new", func(*int) bool { return false }); err != nil || store.Len() != 2 {
		t.Errorf("an update that changes nothing: %v, %d values", err, store.Len())
	}
}

func TestAValueOfAnotherFormIsAnError(t *testing.T) {
	var store hookstate.Memory
	if err := hookstate.Of[string](&store, "a").Update(t.Context(), "s1", func(s *string) bool { *s = "secret"; return true }); err != nil {
		t.Fatal(err)
	}
	numbers := hookstate.Of[int](&store, "a")
	if _, err := numbers.Get(t.Context(), "s1"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Get = %v; want an error without the value", err)
	}
	if err := numbers.Update(t.Context(), "s1", func(*int) bool { return true }); err == nil {
		t.Error("Update overwrites what it can't read")
	}
}
