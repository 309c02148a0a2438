package telemetry

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// quietTime is the minimum interval between two lines.
const quietTime = time.Minute

// quiet logs errors of telemetry, at most one a minute. It is the error handler of OpenTelemetry
// and of Prometheus.
type quiet struct {
	log *slog.Logger

	mu   sync.Mutex // guards last and left
	last time.Time
	left int // lines dropped since last
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

// Println implements the error log of Prometheus.
func (q *quiet) Println(v ...any) { q.Handle(fmt.Errorf("metrics: %s", fmt.Sprint(v...))) }
