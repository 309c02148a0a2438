package natsx

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Clock tells the time of a NATS server, so that processes agree whose own clocks differ. Until it
// has asked, the zero Clock tells this machine's time. It is safe for concurrent use.
type Clock struct{ read atomic.Pointer[reading] }

// reading is the server's time at a moment of this process, from which the monotonic clock counts on.
type reading struct{ server, came time.Time }

// Now returns the time of the server.
func (c *Clock) Now() time.Time {
	r := c.read.Load()
	if r == nil {
		return time.Now()
	}
	return r.server.Add(time.Since(r.came))
}

// Ask asks the server that leads a bucket for the time, unless it was asked within fresh.
func (c *Clock) Ask(ctx context.Context, k *Bucket, fresh time.Duration) error {
	if r := c.read.Load(); r != nil && time.Since(r.came) < fresh {
		return nil
	}
	sent := time.Now()
	stream, err := k.conn.js.Stream(ctx, bucketStreamName(k.name))
	if err != nil {
		return fmt.Errorf("ask bucket %s for the time: %w", k.name, mapError(err))
	}
	c.Set(sent, stream.CachedInfo().TimeStamp)
	return nil
}

// Set notes the server's time in the answer to a request that was sent at the given time. A slow
// answer leaves the difference between the clocks uncertain: of the possible ones, the smallest
// counts. So clocks that may agree do, however slow the answers are.
func (c *Clock) Set(sent, server time.Time) {
	came := time.Now()
	least, most := server.Sub(came.Round(0)), server.Sub(sent.Round(0)) // by the clock of the wall
	c.read.Store(&reading{came.Round(0).Add(max(least, min(most, 0))), came})
}
