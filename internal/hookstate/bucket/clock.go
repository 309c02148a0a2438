package bucket

import (
	"context"
	"time"
)

// askAgain is the interval between requests for the server's time.
const askAgain = 10 * time.Second

// Now implements [hookstate.Store] with the time of the server.
func (b *Store) Now(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, b.writer.timeout)
	defer cancel()
	bucket, err := b.open(ctx)
	if err == nil {
		err = unavailable(b.clock.Ask(ctx, bucket, askAgain))
	}
	return b.clock.Now(), err
}
