package server

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Bounds of the console's look-ups in the audit log, so that they never slow down events.
const (
	maxLookUps    = 4
	lookUpTimeout = 10 * time.Second
	maxScans      = 1               // concurrent look-ups that read records sequentially
	scanTimeout   = 4 * time.Second // after which partial results are shown
)

// scanned reads the audit log for the console: one reader at a time, for a bounded time.
type scanned struct {
	n *Server
}

// open waits for its turn. The caller must call done.
func (s scanned) open(ctx context.Context) (_ context.Context, l *query.Log, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	select {
	case s.n.scans <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return nil, nil, nil, wire.Errorf(wire.Overloaded, "others are searching the audit log: try again")
	}
	done = func() {
		<-s.n.scans
		cancel()
	}
	if l, err = query.Open(ctx, s.n.bus); err != nil {
		done()
		return nil, nil, nil, unreadable(err)
	}
	return ctx, l, done, nil
}

func unreadable(err error) error {
	return wire.Errorf(wire.Unavailable, "the audit log can't be read: %v", err)
}

// within reads for a bounded time and reports whether it finished.
func within(ctx context.Context, read func(context.Context) error) (whole bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	if err = read(bounded); err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		err = unreadable(err)
	}
	return err == nil, err
}

// maxShown bounds a text in a list. The chain's own page shows more.
const maxShown = 2000

// maskTexts masks and cuts the texts of agents for a list.
func (n *Server) maskTexts(texts ...*string) {
	for _, text := range texts {
		masked, _ := n.mask.Text(*text)
		*text = shorten.Runes(masked, maxShown, "…")
	}
}
