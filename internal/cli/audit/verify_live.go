package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// answered is the routers' answer to a request for their keys.
type answered struct {
	keys []verifierkeys.Key
	from []string
	err  error
}

// live verifies the running log: all its segments, and that each continues the previous one.
func (v *verification) live(ctx context.Context) error {
	l, b, err := v.env.AuditLog(ctx)
	if err != nil {
		return err
	}
	v.from = natsx.RedactURL(b.Conn().ConnectedUrl())
	v.at = append(b.Conn().Servers(), v.from)
	segments, err := l.Segments(ctx)
	if err != nil {
		return err
	}
	for _, s := range segments {
		v.parts = append(v.parts, &part{what: s.Name(), header: l.Header(s)})
	}
	routers := sync.OnceValue(func() (a answered) {
		a.keys, a.from, a.err = askKeys(ctx, b)
		return a
	})
	v.ask = func() ([]verifierkeys.Key, error) { return routers().keys, routers().err }
	if err := v.prepare(); err != nil {
		return err
	}
	if len(v.trust.routers) == 0 {
		a := routers()
		if a.err != nil {
			return a.err
		}
		if v.trust.routers, err = onFirstUse(v.env, b, a.keys, a.from); err != nil {
			return err
		}
		v.onTrust = true
	}
	if err := v.trust.keys().Check(); err != nil {
		return err
	}
	for i, s := range segments {
		if err := v.segment(ctx, l, s, v.parts[i]); err != nil {
			return err
		}
	}
	if err := v.beyond(ctx, l, segments[len(segments)-1].Number+1); err != nil {
		return err
	}
	if err := v.absent(); err != nil {
		return err
	}
	v.dropEmpty()
	return nil
}

// segment verifies one segment of the running log.
func (v *verification) segment(ctx context.Context, l *query.Log, s store.Segment, p *part) error {
	state, err := l.State(ctx, s)
	if err != nil {
		return err
	}
	for _, drift := range slices.Concat(state.Drift, state.Removed) {
		p.odd = append(p.odd, "the stream is not append-only: "+drift)
	}
	if err := v.link(ctx, l, s, p); err != nil {
		return err
	}
	heads, err := l.Heads(ctx, s.Name()) // before the end is fixed, so that no head is beyond it
	if err != nil {
		return err
	}
	for _, n := range heads {
		if _, witnessed, err := v.trust.keys().Open(n.Signed); err == nil && witnessed {
			p.heads = append(p.heads, n.Signed)
		}
	}
	bar := newProgress(v.env, "verify "+s.Name(), 0, 0, messages)
	defer bar.end()
	aim, err := l.FindExportEnd(ctx, s, v.cmd.Wait, func(what string) { bar.say("waiting %s for %s", v.cmd.Wait, what) })
	if err != nil {
		return err
	}
	bar.total = aim.To
	in, end := exportStream(ctx, l, s, aim, bar.at)
	defer end()
	p.in = in
	return p.verify(ctx, v.trust, nil)
}

// exportStream exports a segment to a reader, which also returns the export's error. Call end after
// reading.
func exportStream(ctx context.Context, l *query.Log, s store.Segment, aim query.ExportEnd, progress func(int64)) (in io.Reader, end func()) {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err := audit.NewWriter(w, l.Header(s))
		if err == nil {
			err = l.Export(ctx, out, aim, progress)
		}
		w.CloseWithError(err)
	}()
	return r, func() {
		_ = r.Close()
		<-done
	}
}

// link finds the checkpoint that the first checkpoint of a segment must continue: the last one of
// the previous segment, which is kept when that segment is removed.
func (v *verification) link(ctx context.Context, l *query.Log, s store.Segment, p *part) error {
	if s.Number == 1 {
		return nil
	}
	before := l.Name(s.Number - 1)
	n, err := l.LastNote(ctx, before)
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		return err
	}
	if err == nil {
		var c audit.Checkpoint
		c, _, err = v.trust.keys().Open(n.Signed)
		if later, ok := errors.AsType[*audit.UnknownFormatError](err); ok {
			p.previous, p.linked = sha256.Sum256([]byte(later.Text)), true
		} else if err == nil && c.Origin == audit.Origin(p.header.Prefix, before) {
			p.previous, p.linked = c.Digest(), true
		}
	}
	if !p.linked {
		p.odd = append(p.odd, fmt.Sprintf("no signed checkpoint of the segment before, %s, is there", before))
	}
	return nil
}

// dropEmpty leaves out the live segment if nothing shows that it ever had content.
func (v *verification) dropEmpty() {
	last := v.parts[len(v.parts)-1]
	if len(v.parts) > 1 && last.report.Messages == 0 && last.report.Checkpoints == 0 && last.pin == nil && len(last.heads) == 0 &&
		last.report.Verdict == audit.Incomplete {
		v.parts = v.parts[:len(v.parts)-1]
	}
}

// beyond looks for checkpoints of a segment after the last one. If there are any, that segment is
// missing, unless it was started in the meantime.
func (v *verification) beyond(ctx context.Context, l *query.Log, number int) error {
	if _, err := l.Segment(ctx, number); !errors.Is(err, natsx.ErrNoStream) {
		return err
	}
	_, err := l.LastNote(ctx, l.Name(number))
	if errors.Is(err, natsx.ErrNoKey) {
		return nil
	}
	v.signed = number
	return err
}
