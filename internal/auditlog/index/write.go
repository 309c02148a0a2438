package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Limits of a block, and the writer's intervals.
const (
	maxMessages = 2048
	maxIDs      = 64 << 10
	page        = 100 // messages read at a time: at 256 KiB each they fit into a server's buffer for a client
	interval    = 2 * time.Second
	openTimeout = 5 * time.Second
	leaseLooks  = 5 // number of times that a standby must see the lease unrenewed before it takes it
)

// Bucket returns the configuration of the index's bucket.
func Bucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_index", Description: "where ids stand in the audit log; may be emptied", Replicas: replicas, LeaderReads: true,
	}
}

// Indexer writes the index. Call [Indexer.Run].
type Indexer struct {
	conn     *natsx.Conn
	store    *store.Log
	replicas int
	id       string
	log      *slog.Logger

	bucket   *natsx.Bucket
	lease    natsx.Entry // as last seen
	seen     int         // number of times that it was seen unchanged
	mine     bool        // this indexer holds the lease
	segments map[int]*progress
}

// progress says how far a segment is indexed.
type progress struct {
	block   block  // read and not written yet
	covered uint64 // last message read or written
	head    uint64 // revision of the head key
	done    bool   // the segment is sealed and fully indexed
}

// NewIndexer returns an indexer for a log. id must be unique to the process.
func NewIndexer(conn *natsx.Conn, l *store.Log, id string, replicas int, log *slog.Logger) *Indexer {
	return &Indexer{conn: conn, store: l, id: id, replicas: replicas, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
}

// Run indexes until ctx ends. The log is complete without an index, so a failure is logged once
// and retried.
func (x *Indexer) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	said := ""
	for ctx.Err() == nil {
		err := x.Look(ctx)
		if err != nil && ctx.Err() == nil && said != err.Error() {
			said = err.Error()
			x.log.Warn("audit index not written; hookctl why reads the whole log", "error", err)
		}
		if err == nil {
			said = ""
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Open opens the bucket, or creates a missing one.
func (x *Indexer) Open(ctx context.Context) error {
	if x.bucket != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	bucket, err := x.conn.OpenBucket(ctx, Bucket(x.conn.Prefix(), x.replicas))
	if err == nil {
		x.bucket = bucket
	}
	return err
}

// Look indexes new messages if this indexer holds the lease.
func (x *Indexer) Look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := x.Open(ctx); err != nil {
		return err
	}
	if mine, err := x.own(ctx); !mine || err != nil {
		return err
	}
	segments, err := x.store.Segments(ctx)
	if err != nil {
		return err
	}
	for _, s := range segments {
		if err := x.segment(ctx, s); err != nil {
			clear(x.segments) // read again what another indexer wrote
			return err
		}
	}
	return nil
}

// own renews the lease, or takes an abandoned one. It reports whether this indexer holds it.
func (x *Indexer) own(ctx context.Context) (bool, error) {
	if !x.mine {
		now, err := x.bucket.Get(ctx, ownerKey)
		if err != nil && !errors.Is(err, natsx.ErrNoKey) {
			return false, err
		}
		if err == nil && now.Revision != x.lease.Revision {
			x.lease, x.seen = now, 0
		}
		if x.seen++; err == nil && x.seen < leaseLooks {
			return false, nil
		}
		x.lease, x.segments = now, map[int]*progress{}
	}
	revision, err := x.bucket.Update(ctx, ownerKey, []byte(x.id), x.lease.Revision)
	if errors.Is(err, natsx.ErrRevision) {
		x.mine, x.seen, x.lease = false, 0, natsx.Entry{}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x.mine, x.lease.Revision = true, revision
	return true, nil
}

// segment indexes the new messages of a segment.
func (x *Indexer) segment(ctx context.Context, s store.Segment) error {
	p := x.segments[s.Number]
	if p != nil && p.done {
		return nil
	}
	state, err := x.store.State(ctx, s)
	if err != nil {
		return err
	}
	if p == nil {
		p = &progress{}
		if p.covered, p.head, err = head(ctx, x.bucket, s.Number); err != nil {
			return err
		}
		if p.covered > state.Last { // of an earlier log
			p.covered = 0
		}
		x.segments[s.Number] = p
	}
	for from := max(p.covered+1, state.First); from <= state.Last; from = p.covered + 1 {
		to := min(state.Last, from+page-1, from+maxMessages-p.block.messages()-1)
		err := s.Read(ctx, "", from, to, func(msg natsx.Record) error {
			p.block.add(msg.Sequence, idsOf(msg.Body))
			return nil
		})
		if err != nil {
			return err
		}
		p.covered = to
		if p.block.messages() >= maxMessages || p.block.ids >= maxIDs {
			if err := x.write(ctx, s.Number, p); err != nil {
				return err
			}
		}
	}
	if state.Sealed {
		if err := x.write(ctx, s.Number, p); err != nil {
			return err
		}
		p.done = true
	}
	return nil
}

// write writes the block of a segment, then the head that covers it.
func (x *Indexer) write(ctx context.Context, segment int, p *progress) error {
	b := &p.block
	if b.messages() == 0 {
		return nil
	}
	for part := range partitions {
		if len(b.parts[part]) == 0 {
			continue
		}
		if _, err := x.bucket.Put(ctx, blockKey(segment, part, b.from, b.to), b.encode(part)); err != nil {
			return err
		}
	}
	revision, err := x.bucket.Update(ctx, headKey(segment), []byte(strconv.FormatUint(b.to, 10)), p.head)
	if err != nil {
		return fmt.Errorf("index segment %d: %w", segment, err)
	}
	p.head, p.block = revision, block{}
	return nil
}

// head returns the last message of a segment that blocks cover; 0 if there is none.
func head(ctx context.Context, bucket *natsx.Bucket, segment int) (to, revision uint64, err error) {
	e, err := bucket.Get(ctx, headKey(segment))
	if errors.Is(err, natsx.ErrNoKey) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if to, err = strconv.ParseUint(string(e.Value), 10, 64); err != nil {
		return 0, 0, fmt.Errorf("read the audit index: %s is %q: empty the bucket, and it is rebuilt", headKey(segment), e.Value)
	}
	return to, e.Revision, nil
}

// Forget drops a removed segment from the index, for operators.
func Forget(ctx context.Context, conn *natsx.Conn, segment int) error {
	bucket, err := conn.FindBucket(ctx, Bucket(conn.Prefix(), 0).Name)
	if errors.Is(err, natsx.ErrNoStream) {
		return nil
	}
	if err == nil {
		err = bucket.Erase(ctx, strconv.Itoa(segment)+".>")
	}
	if err == nil {
		err = bucket.Erase(ctx, headKey(segment))
	}
	return err
}
