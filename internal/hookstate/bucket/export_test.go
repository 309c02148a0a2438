package bucket

import "time"

// SetTimeout replaces the timeout of each call.
func (b *Store) SetTimeout(d time.Duration) { b.writer.timeout = d }
