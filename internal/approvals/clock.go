package approvals

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// clock calls functions at their times, one at a time.
type clock struct {
	mu    sync.Mutex // guards times
	times times
	wake  chan struct{}
}

// alarm is a time and what to do then.
type alarm struct {
	at time.Time
	do func()
}

func (c *clock) at(at time.Time, do func()) {
	c.mu.Lock()
	heap.Push(&c.times, alarm{at, do})
	first := c.times[0].at.Equal(at)
	c.mu.Unlock()
	if first {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// due returns what to do now, or else how long to wait.
func (c *clock) due(now time.Time) (do func(), wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.times) == 0 {
		return nil, time.Hour
	}
	if wait := c.times[0].at.Sub(now); wait > 0 {
		return nil, min(wait, time.Hour) // to notice a system clock that was set
	}
	return heap.Pop(&c.times).(alarm).do, 0
}

func (c *clock) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		do, wait := c.due(time.Now())
		if do != nil {
			do()
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-c.wake:
		case <-ctx.Done():
			return
		}
	}
}

// times is a heap with the earliest time first.
type times []alarm

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i].at.Before(t[j].at) }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(alarm)) }
func (t *times) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = alarm{}
	*t = old[:len(old)-1]
	return last
}
