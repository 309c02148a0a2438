package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Bucket returns the configuration of the bucket of states.
func Bucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_sessions", Description: "turns, budgets and remembered approvals of sessions",
		Replicas: replicas, MaxAge: 30 * 24 * time.Hour, LeaderReads: true,
	}
}

// Store stores the states. It is safe for concurrent use.
type Store struct {
	bucket *natsx.Bucket
	log    *slog.Logger
	seen   usages
}

// New returns a store. Call [Store.Run] to follow the bucket.
func New(bucket *natsx.Bucket, log *slog.Logger) *Store {
	return &Store{bucket: bucket, log: log}
}

// Run follows the bucket until ctx ends.
func (s *Store) Run(ctx context.Context) {
	for {
		err := s.bucket.Follow(ctx, func(batch []natsx.Entry, _ bool) error {
			for _, e := range batch {
				var state State
				if e.Value != nil {
					if err := json.Unmarshal(e.Value, &state); err != nil {
						s.log.Error("session state unreadable; skipped", "key", e.Key, "error", err)
						continue
					}
				}
				s.seen.set(e.Key, usage{state.Used, e.Revision})
			}
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("sessions not followed; trying again", "error", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return
		}
	}
}

// Used returns the tokens that a session's turn has used, as known to this replica. It does not
// access the store.
func (s *Store) Used(id string) int {
	if s.seen.empty() {
		return 0
	}
	return s.seen.of(key(id))
}

// Get reads a state. For an unknown session it is the zero State with the id.
func (s *Store) Get(ctx context.Context, id string) (State, error) {
	state, _, err := s.read(ctx, ofSession(id))
	return state, err
}

func (s *Store) read(ctx context.Context, at place) (State, uint64, error) {
	e, err := s.bucket.Get(ctx, at.key)
	if errors.Is(err, natsx.ErrNoKey) {
		return at.empty, 0, nil
	}
	if err != nil {
		return State{}, 0, unavailable(err)
	}
	var state State
	if err := json.Unmarshal(e.Value, &state); err != nil {
		return State{}, 0, fmt.Errorf("decode the state of session %q: %w", at.empty.Session, err)
	}
	return state, e.Revision, nil
}

func unavailable(err error) error {
	return wire.Errorf(wire.Unavailable, "the state of the session can't be reached: %v: try again", err)
}

// maxTries is the maximum number of attempts to update a state that other replicas write.
const maxTries = 50

// Update changes a state. change gets the newest state and reports whether it changed it. It is
// called again if another replica wrote the state first.
func (s *Store) Update(ctx context.Context, id string, change func(*State) (changed bool)) error {
	return s.update(ctx, ofSession(id), change)
}

func (s *Store) update(ctx context.Context, at place, change func(*State) (changed bool)) error {
	for try := range maxTries {
		state, revision, err := s.read(ctx, at)
		if err != nil {
			return err
		}
		if !change(&state) {
			return nil
		}
		body, err := json.Marshal(state)
		if err != nil {
			return fmt.Errorf("encode the state of session %q: %w", at.empty.Session, err)
		}
		revision, err = s.bucket.Update(ctx, at.key, body, revision)
		if err == nil {
			s.seen.set(at.key, usage{state.Used, revision})
			return nil
		}
		if !errors.Is(err, natsx.ErrRevision) {
			return unavailable(err)
		}
		select {
		case <-time.After(rand.N(time.Duration(try+1) * time.Millisecond)): //nolint:gosec // jitter, no secret
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return wire.Errorf(wire.Overloaded, "too many replicas write the state of this session at once: try again")
}

// Begin begins a turn of a session if the event starts one. An empty event always does. late
// reports whether late injections are waiting for it.
func (s *Store) Begin(ctx context.Context, id, event string) (late bool, err error) {
	err = s.Update(ctx, id, func(state *State) bool {
		state.begin(event)
		late = len(state.Late) > 0
		return true
	})
	return late, err
}

// Limit stores the limits that a session requests. They can only lower the router's.
func (s *Store) Limit(ctx context.Context, id string, limits verdict.Limits) error {
	return s.Update(ctx, id, func(state *State) bool {
		before := state.Limits
		state.Limits = limits
		return before != limits
	})
}

// End ends a session and drops its state, and the grants of the tree that it is the root of.
func (s *Store) End(ctx context.Context, id string) error {
	err := s.Update(ctx, id, func(state *State) bool {
		state.end(time.Now())
		return true
	})
	if err != nil {
		return err
	}
	_, err = s.dropOfTree(ctx, id, false, func(Grant) bool { return true }) // grants stored later see the end
	return err
}

// Find returns the states of a session of one sender, or of all senders that use the id.
func (s *Store) Find(ctx context.Context, sender, id string) ([]State, error) {
	state, err := s.Get(ctx, sessionkey.Of(sender, id))
	if err != nil || sender != "" {
		return []State{state}, err
	}
	list, err := s.under(ctx, key(id))
	if !state.Empty() || len(list) == 0 {
		list = append([]State{state}, list...)
	}
	return list, err
}

// under returns the states below a prefix of keys.
func (s *Store) under(ctx context.Context, prefix string) (list []State, err error) {
	err = s.bucket.Under(ctx, prefix, func(e natsx.Entry) bool {
		var state State
		if json.Unmarshal(e.Value, &state) == nil {
			list = append(list, state)
		}
		return true
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return list, nil
}

// Spend charges a verdict's injections to the turn and returns the verdict. compose makes it from
// the session's limits and used tokens, and is called again if another replica wrote the state
// first. taker is the id of the event that takes the late injections; empty to leave them.
func (s *Store) Spend(ctx context.Context, id, event, taker string, compose func(lowered verdict.Limits, used int, late []chain.ContextInjection) verdict.Verdict) (v verdict.Verdict, err error) {
	err = s.Update(ctx, id, func(state *State) bool {
		var late []chain.ContextInjection
		waited := taker != "" && len(state.Late) > 0
		if waited {
			late = state.takeLate(taker, time.Now())
		}
		v = compose(state.Limits, state.Used, late)
		delivered := make([]Injection, len(v.Injected))
		for i, one := range v.Injected {
			delivered[i] = Injection{Event: event, Hook: one.Hook, Bytes: one.Bytes, Tokens: one.Tokens, Time: events.Now()}
		}
		state.Spend(v.InjectedTokens, delivered...)
		return len(delivered) > 0 || waited
	})
	return v, err
}
