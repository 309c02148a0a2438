package telemetry

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// quietTime is the pause between two lines.
const quietTime = time.Minute

// quiet logs errors of telemetry, one line a minute. It is the error
// handler of OpenTelemetry and of Prometheus.
type quiet struct {
	log *slog.Logger

	mu   sync.Mutex // guards what follows
	last time.Time
	left int // lines dropped since
}

// Handle logs an error.
func (q *quiet) Handle(err error) {
	q.mu.Lock()
	now := time.Now()
	if !q.last.IsZero() && now.Sub(q.last) < quietTime {
		q.left++
		q.mu.Unlock()
		return
	}
	left := q.left
	q.last, q.left = now, 0
	q.mu.Unlock()
	q.log.Warn("telemetry failed; answers are not affected", "error", err, "not_said", left)
}

// Println is what Prometheus calls.
func (q *quiet) Println(v ...any) { q.Handle(fmt.Errorf("metrics: %s", fmt.Sprint(v...))) }
