package hookstate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/hookrouter/hookrouter/internal/hookstate"
)

func ExampleMemory() {
	var store hookstate.Memory
	count := func(old []byte) ([]byte, error) {
		n, _ := strconv.Atoi(string(old))
		return strconv.AppendInt(nil, int64(n+1), 10), nil
	}
	for range 3 {
		if err := store.Update(context.Background(), "reads.s1", count); err != nil {
			fmt.Println(err)
		}
	}
	value, err := store.Get(context.Background(), "reads.s1")
	fmt.Println(string(value), err)
	// Output: 3 <nil>
}

func TestMemoryLosesNoUpdate(t *testing.T) {
	var store hookstate.Memory
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if err := store.Update(t.Context(), "n", func(old []byte) ([]byte, error) { return append(old, 'x'), nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if value, _ := store.Get(t.Context(), "n"); len(value) != 800 {
		t.Errorf("%d updates are kept; want 800", len(value))
	}
}

func TestMemoryKeepsWhatItIsTold(t *testing.T) {
	var store hookstate.Memory
	put := func(key, value string) {
		if err := store.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte(value), nil }); err != nil {
			t.Fatal(err)
		}
	}
	put("a.1", "x")
	put("a.2", "y")
	put("ab.1", "z")
	broken := errors.New("broken")
	if err := store.Update(t.Context(), "a.1", func([]byte) ([]byte, error) { return []byte("lost"), broken }); !errors.Is(err, broken) {
		t.Errorf("Update = %v; want the error of the change", err)
	}
	if err := store.Update(t.Context(), "a.1", func([]byte) ([]byte, error) { return nil, hookstate.ErrUnchanged }); err != nil {
		t.Errorf("Update = %v; want none", err)
	}
	var got []string
	if err := store.Under(t.Context(), "a", func(key string, value []byte) bool {
		got = append(got, key+string(value))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(got); !slices.Equal(got, []string{"a.1x", "a.2y"}) {
		t.Errorf("under a: %q", got)
	}
	if err := store.Update(t.Context(), "a.1", func([]byte) ([]byte, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if store.Len() != 2 {
		t.Errorf("%d values are left; want 2", store.Len())
	}
}
