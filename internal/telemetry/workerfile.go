package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

// WorkerFile counts how a hook-worker reads its file. A nil *WorkerFile does nothing. It is safe
// for concurrent use.
type WorkerFile struct {
	current metric.Int64Gauge
	reads   metric.Int64Counter
}

// WorkerFile returns the metrics of a worker file, which are exported from the first read on.
func (t *Telemetry) WorkerFile() *WorkerFile {
	if t == nil {
		return nil
	}
	current, _ := t.meter.Int64Gauge("hook_worker.file.current", metric.WithDescription("1 while the hooks are those of the file, 0 since it was refused"))
	reads, _ := t.meter.Int64Counter("hook_worker.file.reads", metric.WithDescription("Times that the file was read, with the first"))
	return &WorkerFile{current, reads}
}

// Read counts a read of the file. taken reports whether its hooks were applied.
func (f *WorkerFile) Read(ctx context.Context, taken bool) {
	if f == nil {
		return
	}
	outcome := "taken"
	if !taken {
		outcome = "failed"
	}
	f.current.Record(ctx, flag(taken))
	f.reads.Add(ctx, 1, adding(keyOutcome.String(outcome))...)
}
