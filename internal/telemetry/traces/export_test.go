package traces

import "time"

// SetPatience changes how long an answer is waited for.
func (j *Jaeger) SetPatience(d time.Duration) { j.client.Timeout = d }
