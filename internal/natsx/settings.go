package natsx

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// How often settings are checked, while they are right and while they are wrong.
const (
	settingsInterval = time.Minute
	settingsRetry    = 5 * time.Second
)

// Settings compares what a router needs of its streams and buckets with what an operator may have
// changed. All fields without a default are required.
type Settings struct {
	// Of names what has the settings, for the log.
	Of string
	// Inspect says in a sentence what is wrong; empty if all is right.
	Inspect func(context.Context) (wrong string, err error)
	// Changed is called when what Inspect says changes, at first from "all is right". Nil for nothing.
	Changed func(wrong string)
	// Soon returns a channel that is ready when Watch is to check before its time. Nil for none.
	Soon func() <-chan struct{}
	// Prefix of the router.
	Prefix string
	Log    *slog.Logger

	wrong atomic.Pointer[string] // as of the last check; nil before the first
}

// Err says what was wrong at the last check; nil for nothing.
func (s *Settings) Err() error {
	if wrong := s.wrong.Load(); wrong != nil && *wrong != "" {
		return errors.New(*wrong)
	}
	return nil
}

// Check inspects the settings now. Its error means that it could not.
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
