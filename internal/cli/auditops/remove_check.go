package auditops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	sumdb "golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// ends returns the last checkpoint of a segment, which must cover all of it and be named by the
// next segment, and the checkpoint that the segment's first one must name.
func ends(ctx context.Context, t *store.Log, s store.Segment, state natsx.StreamState, keys audit.Keys) (last query.Note, previous tlog.Hash, err error) {
	newest, err := t.LastCheckpoint(ctx, s)
	if errors.Is(err, natsx.ErrNoKey) {
		return last, previous, unsigned(ctx, t, s, "it has no checkpoint: start a router with an audit key, which makes it")
	}
	if err != nil {
		return last, previous, err
	}
	last = query.ParseNote([]byte(newest.Signed))
	if last.Checkpoint, _, err = keys.Open(last.Signed); err != nil {
		return last, previous, fmt.Errorf("its last checkpoint: %w", err)
	}
	if uint64(last.Size) != state.Last {
		return last, previous, unsigned(ctx, t, s, fmt.Sprintf("its last checkpoint covers %d of its %d messages: start a router with an audit key, which signs the end", last.Size, state.Last))
	}
	first, err := firstCheckpoint(ctx, t, s.Number+1)
	switch {
	case err != nil:
		return last, previous, err
	case !first.OK:
		return last, previous, errors.New("the next segment has no checkpoint yet, which would say that it goes on from this one: a router with an audit key signs it a second after the first record of the segment")
	case first.Previous != last.Digest():
		return last, previous, errors.New("the first checkpoint of the next segment does not name its last: something is wrong, see `hookctl audit verify`")
	}
	if first, err = firstCheckpoint(ctx, t, s.Number); err != nil {
		return last, previous, err
	}
	return last, first.Previous, nil
}

// unsigned returns an error with the alarm that keeps routers from signing the end of a segment, or
// with the given text if there is none.
func unsigned(ctx context.Context, t *store.Log, s store.Segment, otherwise string) error {
	alarm, err := query.ProvenAlarm(ctx, t, s)
	switch {
	case err != nil:
		return err
	case alarm != nil:
		return fmt.Errorf("it is evidence, and can't be verified: %s", term.Printable(alarm.String()))
	}
	return errors.New(otherwise)
}

// firstCheckpoint returns the first checkpoint of a segment, without verifying it.
func firstCheckpoint(ctx context.Context, t *store.Log, number int) (first query.Note, err error) {
	s, err := t.Segment(ctx, number)
	if err != nil {
		return first, err
	}
	enough := errors.New("the first is read")
	err = t.Checkpoints(ctx, s, func(c store.Checkpoint) error {
		first = query.ParseNote([]byte(c.Signed))
		return enough
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return first, err
}

// verify verifies the export, which must contain the whole segment.
func (c *RemoveSegmentCmd) verify(ctx context.Context, prefix string, s store.Segment, last query.Note, previous tlog.Hash, keys audit.Keys) (audit.Report, error) {
	file, err := os.Open(c.Export)
	if err != nil {
		return audit.Report{}, fmt.Errorf("read --export: %w", err)
	}
	defer file.Close()
	report, err := audit.Verify(ctx, file, audit.Options{
		Keys: keys.Routers, Witnesses: keys.Witnesses, Heads: [][]byte{last.Signed}, Previous: previous,
	})
	switch {
	case err != nil:
		return report, err
	case !report.Verdict.OK():
		return report, fmt.Errorf("%s does not verify: %s", c.Export, report)
	case report.Origin != audit.Origin(prefix, s.Name()):
		return report, fmt.Errorf("%s is an export of %s", c.Export, report.Origin)
	case report.Head == nil || report.Head.Size != last.Size || report.Head.Root != last.Root:
		return report, fmt.Errorf("%s does not hold all of it", c.Export)
	}
	return report, nil
}

// inUse returns an error that names who still needs the segment, or nil.
func (c *RemoveSegmentCmd) inUse(ctx context.Context, t *store.Log, b *natsx.Conn, s store.Segment, last query.Note) error {
	open, err := openApprovalsUpTo(ctx, b, s.Number)
	if err != nil {
		return err
	}
	if open > 0 {
		return fmt.Errorf("the routers still keep %s of this segment, until 24 h after the deadline: try again then", term.Plural(open, "approval request"))
	}
	if c.Unwitnessed {
		return nil
	}
	seen := map[string]int64{} // by witness
	err = t.Cosigned(ctx, s.Name(), func(rec natsx.Record) {
		n := query.ParseNote(rec.Body)
		opened, failed := sumdb.Open(rec.Body, sumdb.VerifierList())
		if unknown, ok := errors.AsType[*sumdb.UnverifiedNoteError](failed); ok {
			opened = unknown.Note
		}
		if opened != nil && n.OK && len(opened.UnverifiedSigs) > 0 {
			by := opened.UnverifiedSigs[len(opened.UnverifiedSigs)-1]
			name := fmt.Sprintf("%s+%08x", by.Name, by.Hash)
			seen[name] = max(seen[name], n.Size)
		}
	})
	if err != nil {
		return err
	}
	for name, size := range seen {
		if size < last.Size {
			return fmt.Errorf("the witness %s has seen it to size %d of %d: wait for it, or use --unwitnessed", term.Printable(name), size, last.Size)
		}
	}
	return nil
}

// openApprovalsUpTo counts the stored approval requests, including decided ones, that may be
// decided or used in segments up to a number.
func openApprovalsUpTo(ctx context.Context, b *natsx.Conn, number int) (n int, err error) {
	bucket, err := b.FindBucket(ctx, approvals.Bucket(b.Prefix(), 0).Name)
	if errors.Is(err, natsx.ErrNoStream) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	enough := errors.New("all are counted")
	err = bucket.Follow(ctx, func(batch []natsx.Entry, loaded bool) error {
		for _, entry := range batch {
			var request struct {
				Segment int `json:"segment"`
			}
			if entry.Value != nil && (json.Unmarshal(entry.Value, &request) != nil || request.Segment <= number) {
				n++
			}
		}
		if loaded {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return n, err
}
