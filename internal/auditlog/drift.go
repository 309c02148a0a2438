package auditlog

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// How often the streams' settings are checked, while they are right and while they are wrong.
const (
	driftInterval = time.Minute
	driftRetry    = 5 * time.Second
)

// watchDrift checks the settings at intervals and whenever a segment begins, until ctx ends.
func (l *Log) watchDrift(ctx context.Context) {
	for {
		pause := driftInterval
		if l.drift.Load() != nil {
			pause = driftRetry
		}
		select {
		case <-time.After(pause):
		case <-l.store.Changed():
		case <-ctx.Done():
			return
		}
		checking, cancel := context.WithTimeout(ctx, driftRetry)
		if err := l.checkDrift(checking); err != nil && ctx.Err() == nil {
			l.log.Warn("audit stream settings not checked", "error", err)
		}
		cancel()
	}
}

// checkDrift compares the streams' settings with the required ones. A difference makes this
// replica not ready, and is recorded.
func (l *Log) checkDrift(ctx context.Context) error {
	stream, found, err := l.store.Drift(ctx)
	if err != nil {
		return err
	}
	before := l.drift.Load()
	if len(found) == 0 {
		if before != nil {
			l.drift.Store(nil)
			l.log.Info("audit stream is append-only again", "stream", stream)
			l.note("restored", stream+" is append-only again")
		}
		return nil
	}
	reason := fmt.Sprintf("the audit stream %s is not append-only: %s", stream, strings.Join(found, ", "))
	l.drift.Store(&reason)
	if before == nil || *before != reason {
		l.log.Error("audit stream is not append-only; not serving until it is restored",
			"restore_with", "hookctl audit bootstrap --prefix "+l.prefix, "stream", stream, "drift", strings.Join(found, ", "))
		l.note("drifted", reason)
	}
	return nil
}
