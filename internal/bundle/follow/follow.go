package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Options configure a follower. All but Poll and Refused are required.
type Options struct {
	// Name of the policy.
	Name string
	// Keys returns the keys that verify the signature of a bundle. It is called for each bundle, so that
	// keys can be replaced while the worker runs.
	Keys func() ([]note.Verifier, error)
	// Acts permits hooks of the policy to run commands, call endpoints and write files.
	Acts bool
	// Dir is the directory for the applied bundles and their files.
	Dir string
	// Conn connects to the routers.
	Conn *natsx.Conn
	// Host is the worker in which the hooks are built.
	Host kind.Worker
	// Poll is the polling interval; 0 means one second.
	Poll time.Duration
	// Refused is called once for each refusal, and with the zero Refusal when the last refused version
	// is withdrawn. It must not block for long. It may be nil.
	Refused func(ctx context.Context, r Refusal)
	// Log gets a line for each policy that is applied or refused.
	Log *slog.Logger
}

// retryAfter is the delay before a refused bundle is tried again, since the reason may no longer
// apply.
const retryAfter = 30 * time.Second

// Follower follows one policy. Call [Follower.Run]. It is safe for concurrent use.
type Follower struct {
	Options
	changed chan struct{} // signals that Read returns other hooks

	mu      sync.Mutex // guards the fields below
	running map[bundle.Use]*bundle.Bundle
	newest  map[bundle.Use]*bundle.Bundle // applied, or stored by an earlier run; older ones are refused
	next    *bundle.Bundle                // being applied; nil for none
	settled chan error                    // receives the outcome of next
	refused map[bundle.Use]Refusal

	composed *bundle.Bundle // the offered one, as Read saw it; used by package serve only

	// Used by Run only.
	seen    map[bundle.Use]uint64    // last revision that was considered
	retryAt map[bundle.Use]time.Time // when a refused bundle is tried again
	lost    error                    // error of the last poll; nil if it succeeded
	none    bool                     // whether it was logged that no version is stored
}

// Refusal describes a bundle that was not applied.
type Refusal struct {
	Version string `json:"version,omitempty"` // empty if nobody known signed it
	Why     string `json:"why"`
}

// Status describes the policy versions that a worker runs, and a refused one.
type Status struct {
	Name    string   `json:"name"`
	Policy  string   `json:"policy,omitempty"` // the version that is enforced
	Shadow  string   `json:"shadow,omitempty"` // the version that runs in shadow
	Refused *Refusal `json:"refused,omitempty"`
}

// uses are the uses that a follower handles, in this order.
var uses = [...]bundle.Use{bundle.Enforce, bundle.Shadow}

// New returns a follower, and creates its directory.
func New(o Options) (*Follower, error) {
	o.Poll = cmp.Or(o.Poll, time.Second)
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("keep policies: %w", err)
	}
	o.Dir = dir
	return &Follower{
		Options: o, changed: make(chan struct{}, 1), running: map[bundle.Use]*bundle.Bundle{}, newest: map[bundle.Use]*bundle.Bundle{}, refused: map[bundle.Use]Refusal{},
		seen: map[bundle.Use]uint64{}, retryAt: map[bundle.Use]time.Time{},
	}, nil
}

// Changed receives a value when Read returns other hooks.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

// Status returns what runs now.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Status{Name: f.Name}
	if b := f.running[bundle.Enforce]; b != nil {
		s.Policy = b.Version()
	}
	if b := f.running[bundle.Shadow]; b != nil {
		s.Shadow = b.Version()
	}
	for _, use := range uses {
		if r, is := f.refused[use]; is && s.Refused == nil {
			s.Refused = &r
		}
	}
	return s
}

// Metadata returns the status for service discovery.
func (f *Follower) Metadata() map[string]string {
	s := f.Status()
	m := map[string]string{"policy_name": s.Name, "policy": s.Policy, "policy_shadow": s.Shadow}
	if s.Refused != nil {
		m["policy_refused"], m["policy_refused_why"] = s.Refused.Version, s.Refused.Why
	}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

// Run applies the bundles on disk, and then polls routers until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	for _, use := range uses {
		switch raw, err := os.ReadFile(f.kept(use)); {
		case err == nil:
			if b, err := f.verify(raw); err == nil && b.Name == f.Name && b.Use == use {
				f.newest[use] = b // even if it can no longer run
			}
			f.consider(ctx, use, raw)
		case !errors.Is(err, os.ErrNotExist):
			f.Log.Error("kept policy not read", "policy", f.Name, "error", err)
		}
	}
	for ctx.Err() == nil {
		for _, use := range uses {
			f.ask(ctx, use)
		}
		f.touchRunning()
		select {
		case <-time.After(f.Poll):
		case <-ctx.Done():
		}
	}
}

// ask asks a router for the newest bundle, and considers it if it is new.
func (f *Follower) ask(ctx context.Context, use bundle.Use) {
	if at := f.retryAt[use]; !at.IsZero() && time.Now().After(at) {
		f.retryAt[use], f.seen[use] = time.Time{}, 0
	}
	raw, revision, err := fetch(ctx, f.Conn, f.Name, use, f.seen[use])
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		if f.lost == nil {
			f.Log.Warn("policy not asked for; keeping the previous hooks", "policy", f.Name, "error", err)
		}
		f.lost = err
		clear(f.seen) // routers may return with another store, with other revisions
		return
	}
	f.lost = nil
	if f.seen[use] = revision; len(raw) == 0 {
		if revision == 0 && use == bundle.Enforce && f.Status().Policy == "" && !f.none {
			f.none = true
			f.Log.Warn("no version of the policy is stored yet; waiting for one", "policy", f.Name)
		}
		return
	}
	if !f.consider(ctx, use, raw) {
		f.retryAt[use] = time.Now().Add(retryAfter)
	}
}

// fetch asks a router for a bundle. It returns no bytes if there is none, or none newer than the
// revision.
func fetch(ctx context.Context, conn *natsx.Conn, name string, use bundle.Use, have uint64) (raw []byte, revision uint64, err error) {
	body, err := jsonv2.Marshal(map[string]string{"name": name, "use": string(use)})
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	reply, err := conn.Request(ctx, conn.Of("policy", "get"), wire.Header{wire.HeaderRevision: {strconv.FormatUint(have, 10)}}, body)
	if err != nil {
		return nil, 0, err
	}
	revision, err = strconv.ParseUint(wire.Get(reply.Header, wire.HeaderRevision), 10, 64)
	return reply.Data, revision, err
}
