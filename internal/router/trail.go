package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// How often the audit stream's settings are looked at: as long as they are right, and
// while they are not.
const (
	driftCheck  = time.Minute
	driftRepair = 5 * time.Second
)

// keeper is the audit log of one replica.
type keeper struct {
	trail  *store.Log
	writer *recorder.Writer
	view   recorder.View
	notary *signer.Signer         // nil without a key
	drift  atomic.Pointer[string] // why the log is not append-only; nil where it is
}

// openAudit opens the audit log, and makes it where it is missing.
func (r *Router) openAudit(ctx context.Context, replica string) error {
	log, err := store.Open(ctx, r.bus, r.Replicas)
	if err != nil {
		return err
	}
	r.trail = log
	r.view = recorder.View{Data: r.AuditData, Mask: r.AuditMask}
	if r.Audit != recorder.Off {
		bucket, err := r.bus.OpenBucket(ctx, recorder.SaltBucket(r.bus.Prefix(), r.Replicas))
		if err != nil {
			return err
		}
		r.view.Salts = recorder.NewSalts(bucket, r.Log)
	}
	r.writer = recorder.New(r.bus, log, recorder.Options{ID: replica, Mode: r.Audit, Timeout: r.AuditTimeout, Wrote: r.metrics.Wrote, Log: r.Log})
	if r.Audit != recorder.Off && r.AuditKey != nil {
		r.notary = signer.New(log, signer.Options{
			Prefix: r.bus.Prefix(), Key: r.AuditKey.Signer, Verifier: r.AuditKey.Verifier, Log: r.Log,
			Alarm: func(reason string) { r.noteLog("alarm", reason) },
		})
	}
	return r.checkDrift(ctx)
}

// runAudit runs what the audit log needs until ctx ends: the records that wait then are
// written, and signed.
func (r *Router) runAudit(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	signing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if r.notary != nil {
		wg.Go(func() { r.notary.Run(signing) })
	}
	if r.view.Salts != nil {
		wg.Go(func() { r.view.Salts.Run(ctx) })
	}
	wg.Go(func() { r.watchDrift(ctx) })
	r.writer.Run(ctx) // and only then the last signature
}

// watchDrift looks at the stream's settings every minute.
func (r *Router) watchDrift(ctx context.Context) {
	for {
		pause := driftCheck
		if r.drift.Load() != nil {
			pause = driftRepair
		}
		select {
		case <-time.After(pause):
		case <-r.trail.Changed():
		case <-ctx.Done():
			return
		}
		looking, cancel := context.WithTimeout(ctx, driftRepair)
		if err := r.checkDrift(looking); err != nil && ctx.Err() == nil {
			r.Log.Warn("could not look at the settings of the audit stream", "error", err)
		}
		cancel()
	}
}

// checkDrift compares the stream's settings with what they must be. What is wrong makes
// this replica not ready, and is recorded.
func (r *Router) checkDrift(ctx context.Context) error {
	live := r.trail.Live()
	state, err := live.State(ctx, r.trail.Subjects())
	if err != nil {
		return err
	}
	if state.Sealed { // an operator closed it: the next one is on its way
		if err := r.trail.Refresh(ctx); err != nil {
			return err
		}
		if next := r.trail.Live(); next.Number != live.Number {
			return r.checkDrift(ctx)
		}
	}
	state.Drift = append(state.Drift, state.Removed...)
	notes, err := r.trail.CheckpointNotes().State(ctx, store.CheckpointSubjects(r.bus))
	if err != nil {
		return err
	}
	for _, found := range notes.Drift {
		state.Drift = append(state.Drift, "of the checkpoints "+found)
	}
	was := r.drift.Load()
	switch {
	case len(state.Drift) == 0 && was != nil:
		r.drift.Store(nil)
		r.Log.Info("the audit stream is append-only again", "stream", live.Name())
		r.noteLog("restored", live.Name()+" is append-only again")
	case len(state.Drift) > 0:
		found := fmt.Sprintf("the audit stream %s is not append-only: %s", live.Name(), strings.Join(state.Drift, ", "))
		r.drift.Store(&found)
		if was == nil || *was != found {
			r.Log.Error(found + ": not serving; an operator sets it back with `hookctl audit bootstrap --prefix " + r.bus.Prefix() + "`")
			r.noteLog("drifted", found)
		}
	}
	return nil
}

// auditReady reports why the audit log does not allow to serve, or nil.
func (r *Router) auditReady() error {
	if found := r.drift.Load(); found != nil {
		return errors.New(*found)
	}
	if r.Audit == recorder.Strict {
		return r.writer.Healthy()
	}
	return nil
}

// noteLog records what happened to the log itself.
func (r *Router) noteLog(action, reason string) {
	r.writer.Note(audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: action, Detail: audit.Note{Reason: reason}}.Append(nil))
}

// recordChange records a change of a registration before it is made.
func (r *Router) recordChange(ctx context.Context, c registry.Change) error {
	return r.writer.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.RegistrationKind, Session: c.Session, Hook: c.Hook, Action: c.Action,
		Detail: audit.Change{Revision: int64(c.Revision), By: c.By, Instance: c.Instance, Reason: c.Reason, Registration: r.view.Registration(c.Registration)},
	}.Append(nil))
}
