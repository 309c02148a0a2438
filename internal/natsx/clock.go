package natsx

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Clock returns the time of a NATS server, so that processes with different clocks agree. The zero
// Clock returns this machine's time until [Clock.Ask] or [Clock.Set] is called.
type Clock struct{ read atomic.Pointer[reading] }

// reading is a time reported by the server, and the local time when it arrived.
type reading struct{ server, came time.Time }

// Now returns the server's time.
func (c *Clock) Now() time.Time {
	r := c.read.Load()
	if r == nil {
		return time.Now()
	}
	return r.server.Add(time.Since(r.came))
}

// Ask gets the time from the server that leads a bucket, unless that was done within the time
// fresh.
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

// Set sets the server's current time.
func (c *Clock) Set(server time.Time) { c.read.Store(&reading{server, time.Now()}) }
