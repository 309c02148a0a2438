package hookstate

import "time"

// SetTimeout replaces the timeout of each call.
func (b *Bucket) SetTimeout(d time.Duration) { b.writer.timeout = d }
