package pathguard

import (
	"context"
	"strings"
)

const (
	// maxCost bounds what is judged of one event, in units of access.cost: some 30 µs each.
	// Everyday calls need less than a hundredth of it.
	maxCost = 4000
	// maxEntered bounds the directories where one command may be by its options -C.
	maxEntered = 64
)

// budget is what may still be judged of one event.
type budget struct {
	ended func() error
	left  int
	seen  map[accessKey]bool
	// spent says that something was not judged.
	spent bool
}

// accessKey is an access as a line has it, which is judged one time.
type accessKey struct {
	text, dir                                                   string
	reads, writes, unsure, below, glob, fills, pours, deep, key bool
}

func newBudget(ctx context.Context) *budget {
	return &budget{ended: ctx.Err, left: maxCost, seen: map[accessKey]bool{}}
}

// isNew reports whether an access is not yet judged.
func (b *budget) isNew(text, dir string, a access) bool {
	key := accessKey{text, dir, a.reads, a.writes, a.unsure, a.below, a.glob, a.fills, a.pours, a.deep, a.key}
	if b.spent || b.seen[key] {
		return false
	}
	b.seen[key] = true
	return true
}

// take reports whether there is budget left for an access, and takes it.
func (b *budget) take(a access) bool {
	if b.left -= a.cost(); b.left < 0 || b.ended() != nil {
		b.spent = true
	}
	return !b.spent
}

// cost is how much longer than a name that is read an access takes to be judged.
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
