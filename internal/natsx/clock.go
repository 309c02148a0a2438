package natsx

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Clock returns the time of a NATS server, so that processes with different local clocks agree. The
// zero Clock returns the local time until Ask succeeds. It is safe for concurrent use.
type Clock struct{ read atomic.Pointer[reading] }

// reading pairs a time of the server with the local time at which it held. The monotonic clock measures
// the time since.
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
	stream, err := k.conn.bucketStream(ctx, k.name)
	if err != nil {
		return fmt.Errorf("ask for the time: %w", err)
	}
	c.Set(sent, stream.CachedInfo().TimeStamp)
	return nil
}

// Set stores the server's time from an answer that arrived now; sent is when it was asked for. The
// difference between the clocks is known only up to the delay of the answer. Set assumes the smallest
// possible difference, so that a delay alone never makes clocks differ.
func (c *Clock) Set(sent, server time.Time) {
	came := time.Now()
	least, most := server.Sub(came.Round(0)), server.Sub(sent.Round(0)) // wall time
	c.read.Store(&reading{came.Round(0).Add(max(least, min(most, 0))), came})
}
