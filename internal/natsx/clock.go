package natsx

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Clock tells the time of a NATS server, so that processes agree whose own clocks differ. The zero
// Clock tells this machine's time until it is asked for.
type Clock struct{ read atomic.Pointer[reading] }

// reading is what a server said; it is counted on by the monotonic clock.
type reading struct{ server, came time.Time }

// Now is the time of the server.
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
	stream, err := k.conn.js.Stream(ctx, bucketStreamName(k.name))
	if err != nil {
		return fmt.Errorf("ask bucket %s for the time: %w", k.name, mapError(err))
	}
	c.Set(stream.CachedInfo().TimeStamp)
	return nil
}

// Set tells what the server says now.
func (c *Clock) Set(server time.Time) { c.read.Store(&reading{server, time.Now()}) }
