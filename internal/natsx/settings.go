package natsx

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// Intervals of checks, while the settings are right and while they are wrong.
const (
	settingsInterval = time.Minute
	settingsRetry    = 5 * time.Second
)

// Settings watches the settings of streams and buckets that a router needs, since an operator may
// change them. All fields without a default are required.
type Settings struct {
	// Of names the owner of the settings, for the log.
	Of string
	// Inspect describes the problem in a sentence; empty if all settings are right.
	Inspect func(context.Context) (wrong string, err error)
	// Changed is called when the result of Inspect changes, at first from "". Nil means no
	// callback.
	Changed func(wrong string)
	// Soon returns a channel that makes Watch check early. Nil means none.
	Soon func() <-chan struct{}
	// Prefix of the router.
	Prefix string
	Log    *slog.Logger

	wrong atomic.Pointer[string] // result of the last check; nil before the first
}

// Err returns the problem that the last check found, or nil.
func (s *Settings) Err() error {
	if wrong := s.wrong.Load(); wrong != nil && *wrong != "" {
		return errors.New(*wrong)
	}
	return nil
}

// Check inspects the settings now. An error means that they could not be inspected.
func (s *Settings) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settingsRetry)
	defer cancel()
	wrong, err := s.Inspect(ctx)
	if err != nil {
		return err
	}
	var before string
	if last := s.wrong.Swap(&wrong); last != nil {
		before = *last
	}
	switch wrong {
	case before:
		return nil
	case "":
		s.Log.Info("settings in NATS are right again", "of", s.Of)
	default:
		s.Log.Error("settings in NATS are wrong; not serving until they are restored",
			"of", s.Of, "reason", wrong, "restore_with", "hookctl audit bootstrap --prefix "+s.Prefix)
	}
	if s.Changed != nil {
		s.Changed(wrong)
	}
	return nil
}

// Watch checks at intervals until ctx ends.
func (s *Settings) Watch(ctx context.Context) {
	for {
		pause := settingsInterval
		if s.Err() != nil {
			pause = settingsRetry
		}
		var soon <-chan struct{}
		if s.Soon != nil {
			soon = s.Soon()
		}
		select {
		case <-time.After(pause):
		case <-soon:
		case <-ctx.Done():
			return
		}
		if err := s.Check(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("settings in NATS not checked", "of", s.Of, "error", err)
		}
	}
}
