package session

import (
	"fmt"
	"testing"
)

// Agents choose session ids, and their sessions need not end.
func TestUsagesAreBounded(t *testing.T) {
	var u usages
	for i := range 5 * maxUsages {
		u.set(fmt.Sprint(i), usage{i + 1, uint64(i + 1)})
	}
	if n := len(u.young) + len(u.old); n > 2*maxUsages {
		t.Errorf("%d are cached", n)
	}
	for i := 4 * maxUsages; i < 5*maxUsages; i++ {
		if used := u.of(fmt.Sprint(i)); used != i+1 {
			t.Fatalf("session %d has used %d", i, used)
		}
	}
}

func TestUsagesKeepTheNewest(t *testing.T) {
	var u usages
	u.set("a", usage{7, 3})
	u.set("a", usage{5, 2})
	if used := u.of("a"); used != 7 || u.empty() {
		t.Errorf("it has used %d", used)
	}
	u.set("a", usage{0, 4})
	if used := u.of("a"); used != 0 || !u.empty() {
		t.Errorf("in the next turn it has used %d", used)
	}
}
