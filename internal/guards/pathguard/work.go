package pathguard

import (
	"context"
	"strings"
)

const (
	// maxWork bounds what is judged of one event, in units of access.cost: some 30 µs each.
	// Everyday calls need less than a hundredth of it.
	maxWork = 4000
	// maxEntered bounds the directories where one command may be by its options -C.
	maxEntered = 64
)

// work is what may still be judged of one event.
type work struct {
	ended func() error
	left  int
	seen  map[once]bool
	// spent says that something was not judged.
	spent bool
}

// once is an access as a line has it, which is judged one time.
type once struct {
	text, dir                                              string
	reads, writes, unsure, below, glob, fills, pours, deep bool
}

func newWork(ctx context.Context) *work {
	return &work{ended: ctx.Err, left: maxWork, seen: map[once]bool{}}
}

// first reports whether an access is not yet judged.
func (w *work) first(text, dir string, a access) bool {
	key := once{text, dir, a.reads, a.writes, a.unsure, a.below, a.glob, a.fills, a.pours, a.deep}
	if w.spent || w.seen[key] {
		return false
	}
	w.seen[key] = true
	return true
}

// take reports whether there is work left for an access, and takes it.
func (w *work) take(a access) bool {
	if w.left -= a.cost(); w.left < 0 || w.ended() != nil {
		w.spent = true
	}
	return !w.spent
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
