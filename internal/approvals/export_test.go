package approvals

import "time"

// SetTime tells what NATS says the time is.
func (s *Service) SetTime(t time.Time) { s.time.Set(time.Now(), t) }
