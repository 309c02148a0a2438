package pathguard

import (
	"context"
	"strings"
)

const (
	// maxCost limits the work for one event, in units of access.cost of about 30 µs. Ordinary calls
	// need less than a hundredth of it.
	maxCost = 4000
	// maxEntered is the maximum number of directories in which one command may run because of its
	// -C options.
	maxEntered = 64
)

// budget is the remaining work for one event.
type budget struct {
	ended func() error
	left  int
	seen  map[accessKey]bool
	// spent is true if something was not evaluated.
	spent bool
}

// accessKey identifies an access, so that it is evaluated only once per event.
type accessKey struct {
	text, dir                                                   string
	reads, writes, unsure, below, glob, fills, pours, deep, key bool
}

func newBudget(ctx context.Context) *budget {
	return &budget{ended: ctx.Err, left: maxCost, seen: map[accessKey]bool{}}
}

// isNew reports whether an access has not been evaluated yet, and records it. It returns false if
// the budget is spent.
func (b *budget) isNew(text, dir string, a access) bool {
	key := accessKey{text, dir, a.reads, a.writes, a.unsure, a.below, a.glob, a.fills, a.pours, a.deep, a.key}
	if b.spent || b.seen[key] {
		return false
	}
	b.seen[key] = true
	return true
}

// take deducts the cost of an access, and reports whether the budget suffices.
func (b *budget) take(a access) bool {
	if b.left -= a.cost(); b.left < 0 || b.ended() != nil {
		b.spent = true
	}
	return !b.spent
}

// cost returns the cost of evaluating an access, relative to reading a short name.
func (a access) cost() int {
	name := a.path.Name()
	cost := 1 + len(name)/128 + strings.Count(name, "/")/16
	if a.glob {
		cost *= 4
	}
	if a.writes || a.unsure || a.below {
		cost *= 3
	}
	return cost
}
