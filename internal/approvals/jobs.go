package approvals

import (
	"context"
	"sync"
	"time"
)

// jobs are run by a fixed number of goroutines. Each approval request has at most one job for
// its expiry and one for its decision or waiters, which bounds the list.
type jobs struct {
	mu   sync.Mutex // guards list
	list []job
	wake chan struct{}
}

// job works on an approval request. It is retried until it is done.
type job struct {
	do  func(ctx context.Context, id string, try int) (done bool)
	id  string
	try int
}

func (j *jobs) put(one job) {
	j.mu.Lock()
	j.list = append(j.list, one)
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default: // enough goroutines are awake
	}
}

func (j *jobs) take() (one job, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.list) == 0 {
		j.list = nil
		return job{}, false
	}
	one = j.list[0]
	j.list = j.list[1:]
	return one, true
}

func (j *jobs) run(ctx context.Context, clock *clock) {
	for {
		one, ok := j.take()
		if !ok {
			select {
			case <-j.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		trying, cancel := context.WithTimeout(ctx, one.timeout())
		done := one.do(trying, one.id, one.try)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if !done {
			one.try++
			clock.at(time.Now().Add(retryPause), func() { j.put(one) })
		}
	}
}

// timeout bounds a try. The first one is short: if the connection lost the store's reply, only
// the time-out reveals it. A slow store gets longer.
func (j job) timeout() time.Duration { return 2 * time.Second << min(j.try, 2) }
