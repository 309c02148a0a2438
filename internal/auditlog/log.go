package auditlog

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Options configure the log. Zero fields mean defaults.
type Options struct {
	// Replicas is the number of replicas of new streams and the bucket; 0 means the default of
	// [natsx.BucketOptions].
	Replicas int
	// Recorder configures the writer of records. Its ID is required. [Open] sets its Log.
	Recorder recorder.Options
	// View selects what records contain of an event's data. [Open] sets its Salts.
	View recorder.View
	// Key signs the log; nil means no checkpoints.
	Key *signer.Key
	// Signer configures the signer. [Open] sets its Key, Verifier, Alarm and Log.
	Signer signer.Options
	// Log gets failures; nil discards them.
	Log *slog.Logger
}

// Log is the audit log of one replica. It is safe for concurrent use. Call [Log.Run].
type Log struct {
	log      *slog.Logger
	store    *store.Log
	writer   *recorder.Writer
	view     recorder.View
	signer   *signer.Signer  // nil without a key, or if the mode is Off
	index    *index.Indexer  // nil if the mode is Off
	settings *natsx.Settings // of the streams
	waiting  atomic.Int64    // calls of Record
}

// Open opens the log and creates missing streams.
func Open(ctx context.Context, conn *natsx.Conn, o Options) (*Log, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Recorder.Log, o.Signer.Log = o.Log, o.Log
	stored, err := store.Open(ctx, conn, o.Replicas)
	if err != nil {
		return nil, err
	}
	l := &Log{log: o.Log, store: stored, view: o.View}
	if o.Recorder.Mode != recorder.Off {
		bucket, err := conn.OpenBucket(ctx, recorder.SaltBucket(conn.Prefix(), o.Replicas))
		if err != nil {
			return nil, err
		}
		l.view.Salts = recorder.NewSalts(bucket, o.Log)
		l.index = index.NewIndexer(conn, stored, o.Recorder.ID, o.Replicas, o.Log)
		if err := l.index.Open(ctx); err != nil { // the log is complete without an index
			o.Log.Warn("audit index not opened; hookctl why reads the whole log", "error", err)
		}
	}
	l.writer = recorder.New(conn, stored, o.Recorder)
	if l.Enabled() && o.Key != nil {
		o.Signer.Key, o.Signer.Verifier = o.Key.Signer, o.Key.Verifier
		o.Signer.Alarm = func(reason string) { l.note("alarm", reason) }
		l.signer = signer.New(stored, o.Signer)
	}
	l.settings = l.streamSettings(conn.Prefix())
	if err := l.settings.Check(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Run writes, signs and watches until ctx ends. Before it returns, it writes and signs the
// waiting records.
func (l *Log) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	signing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop() // after the last record is written
	if l.signer != nil {
		wg.Go(func() { l.signer.Run(signing) })
	}
	if l.view.Salts != nil {
		wg.Go(func() { l.view.Salts.Run(ctx) })
	}
	if l.index != nil {
		wg.Go(func() { l.index.Run(ctx) })
	}
	wg.Go(func() { l.settings.Watch(ctx) })
	l.writer.Run(ctx)
}

// Ready returns an error if the log does not allow the router to serve.
func (l *Log) Ready() error {
	if err := l.settings.Err(); err != nil {
		return err
	}
	if l.writer.Mode == recorder.Strict {
		return l.writer.Healthy()
	}
	return nil
}

// Enabled reports whether records are written.
func (l *Log) Enabled() bool { return l.writer.Mode != recorder.Off }

// Mode returns the mode of the log.
func (l *Log) Mode() recorder.Mode { return l.writer.Mode }

// Record writes lines, which are records without a writer in the form of [audit.Record.Append], and
// waits for the log if the mode requires it. The caller may reuse lines afterwards. After an error,
// [recorder.ErrUnavailable] or [recorder.ErrTooLarge], nothing may be answered.
func (l *Log) Record(ctx context.Context, lines []byte) error {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	return l.writer.Record(ctx, lines)
}

// Note writes lines without waiting.
func (l *Log) Note(lines []byte) { l.writer.Note(lines) }

// Waiting returns the number of [Log.Record] calls in flight.
func (l *Log) Waiting() int64 { return l.waiting.Load() }

// Lag returns the age of the oldest unacknowledged record; 0 if there is none.
func (l *Log) Lag() time.Duration { return l.writer.Lag() }

// Alarmed reports whether an alarm keeps this replica from signing the live segment.
func (l *Log) Alarmed() bool { return l.signer != nil && l.signer.Alarmed() }

// View returns the view that renders data and texts for records.
func (l *Log) View() recorder.View { return l.view }

// Store returns the log's storage in NATS, where approvals store their decisions.
func (l *Log) Store() *store.Log { return l.store }

// note records an event of the log itself.
func (l *Log) note(action, reason string) {
	l.writer.Note(audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: action, Detail: audit.Note{Reason: reason}}.Append(nil))
}
