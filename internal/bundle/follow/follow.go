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
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Options say which policy is followed. All but Poll are needed.
type Options struct {
	// Name of the policy.
	Name string
	// Keys are those whose signatures count.
	Keys []note.Verifier
	// Acts lets hooks of the policy act in the world: run commands, call endpoints, write
	// files.
	Acts bool
	// Dir is where the last good bundles are kept.
	Dir string
	// Conn is how routers are asked.
	Conn *natsx.Conn
	// Host is what the hooks may use.
	Host kind.Worker
	// Poll is how often routers are asked; 0 means once a second.
	Poll time.Duration
	// Refused is called once for each refusal, and with the zero Refusal when the last refused
	// version is withdrawn. It must not block for long. Nil for none.
	Refused func(ctx context.Context, r Refusal)
	// Log gets what is taken over, and what is refused and why.
	Log *slog.Logger
}

// again is when a bundle that was refused is tried again: the reason may be gone.
const again = 30 * time.Second

// Follower follows one policy. Run it. It is safe for concurrent use.
type Follower struct {
	Options
	changed chan struct{} // Read gives other hooks now

	mu      sync.Mutex // guards what follows
	running map[bundle.Use]*bundle.Bundle
	newest  map[bundle.Use]*bundle.Bundle // that were taken, or kept by an earlier run: none before them is
	next    *bundle.Bundle                // that is being taken over; nil for none
	settled chan error                    // what becomes of it
	refused map[bundle.Use]Refusal

	// Of Run alone.
	seen map[bundle.Use]uint64    // the revision that was looked at last
	late map[bundle.Use]time.Time // when one that was refused is tried again
	lost error                    // why routers could not be asked the last time
	none bool                     // it was logged that nothing is stored
}

// Refusal is a bundle that was not taken over.
type Refusal struct {
	Version string `json:"version,omitempty"` // empty where nobody knows who wrote it
	Why     string `json:"why"`
}

// Status is what a worker runs, and what it refused last.
type Status struct {
	Name    string   `json:"name"`
	Policy  string   `json:"policy,omitempty"` // the version that is enforced
	Shadow  string   `json:"shadow,omitempty"` // the version that is tried beside
	Refused *Refusal `json:"refused,omitempty"`
}

// uses are the two that a worker follows, in this order.
var uses = [...]bundle.Use{bundle.Enforce, bundle.Shadow}

// New makes a follower, and its directory.
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
		seen: map[bundle.Use]uint64{}, late: map[bundle.Use]time.Time{},
	}, nil
}

// Changed tells that Read gives other hooks now.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

// Status is what runs now.
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

// Metadata is the status for service discovery.
func (f *Follower) Metadata() map[string]string {
	s := f.Status()
	m := map[string]string{"policy_name": s.Name, "policy": s.Policy, "policy_shadow": s.Shadow}
	if s.Refused != nil {
		m["policy_refused"], m["policy_refused_why"] = s.Refused.Version, s.Refused.Why
	}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

// Run takes over what is kept on disk, and then what routers have, until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	for _, use := range uses {
		switch raw, err := os.ReadFile(f.kept(use)); {
		case err == nil:
			if b, err := bundle.Open(raw, f.Keys...); err == nil && b.Name == f.Name && b.Use == use {
				f.newest[use] = b // also where it can't run any more
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
		pause := time.NewTimer(f.Poll)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// ask asks a router for the newest bundle, and looks at one that is new.
func (f *Follower) ask(ctx context.Context, use bundle.Use) {
	if late := f.late[use]; !late.IsZero() && time.Now().After(late) {
		f.late[use], f.seen[use] = time.Time{}, 0
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
		f.late[use] = time.Now().Add(again)
	}
}

// fetch asks a router for a bundle; no bytes where it is the one of the revision, or there
// is none.
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

// consider takes a bundle over, or says why not.
func (f *Follower) consider(ctx context.Context, use bundle.Use, raw []byte) (taken bool) {
	b, err := f.open(use, raw)
	if b == nil && err == nil { // it runs, or is of the past
		f.withdrawn(ctx, use)
		return true
	}
	if err == nil {
		err = f.try(ctx, b)
	}
	if err == nil {
		err = f.offer(ctx, b)
	}
	if ctx.Err() != nil {
		return false
	}
	if err == nil {
		f.mu.Lock()
		delete(f.refused, use)
		f.mu.Unlock()
		f.Log.Info("policy taken over", "policy", b.Version(), "use", string(use), "restores", b.Restores, "commit", b.Commit)
		return true
	}
	r := Refusal{Why: clip(err.Error())}
	if b != nil {
		r.Version = b.Version()
	}
	f.refuse(ctx, use, r)
	return false
}

// refuse notes a refusal and reports a new one.
func (f *Follower) refuse(ctx context.Context, use bundle.Use, r Refusal) {
	f.mu.Lock()
	known := f.refused[use] == r
	f.refused[use] = r
	f.mu.Unlock()
	if known {
		return
	}
	f.Log.Error("policy refused; keeping the previous hooks", "policy", cmp.Or(r.Version, f.Name), "use", string(use), "error", r.Why)
	if f.Refused != nil {
		f.Refused(ctx, r)
	}
}

// withdrawn notes that the refused version is not stored any more.
func (f *Follower) withdrawn(ctx context.Context, use bundle.Use) {
	f.mu.Lock()
	_, refused := f.refused[use]
	delete(f.refused, use)
	last := refused && len(f.refused) == 0
	f.mu.Unlock()
	if last && f.Refused != nil {
		f.Refused(ctx, Refusal{})
	}
}

// maxWhy bounds the reason of a refusal, in bytes.
const maxWhy = 400

// clip is text that fits in a line of a table.
func clip(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return shorten.Bytes(line, maxWhy, " …")
}

// open checks who signed a bundle, and that it is newer than what runs. It is nil, without
// an error, where it is what runs, or a shadow of what was enforced since.
func (f *Follower) open(use bundle.Use, raw []byte) (*bundle.Bundle, error) {
	b, err := bundle.Open(raw, f.Keys...)
	if err != nil {
		return nil, err
	}
	switch {
	case b.Name != f.Name:
		return b, fmt.Errorf("it is of another policy: %s", b.Name)
	case b.Use != use:
		return b, fmt.Errorf("it was signed to %s, and is stored where it would %s", b.Use, use)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now, newest, enforced := f.running[use], f.newest[use], f.newest[bundle.Enforce]
	switch {
	case use == bundle.Shadow && enforced != nil && b.Serial <= enforced.Serial:
		return nil, nil
	case newest == nil || b.Serial > newest.Serial:
		return b, nil
	case b.Serial < newest.Serial:
		return b, fmt.Errorf("it is older than %s, which was taken over: `hookctl policy rollback` signs a rollback", newest.Short())
	case b.Digest != newest.Digest:
		return b, fmt.Errorf("it has the serial of what was taken over, and other files: somebody signed two bundles with the serial %d", b.Serial)
	case now == nil || now.Serial != b.Serial:
		return b, nil // it could not run before
	}
	return nil, nil
}

// offer has serve take over the hooks of a bundle.
func (f *Follower) offer(ctx context.Context, b *bundle.Bundle) error {
	f.mu.Lock()
	f.next = b
	f.settled = make(chan error, 1)
	settled := f.settled
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.next = nil
		f.mu.Unlock()
	}()
	select {
	case f.changed <- struct{}{}:
	default:
	}
	select {
	case err := <-settled:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read gives the hooks of what runs and of what is being taken over.
func (f *Follower) Read() (*workerfile.File, error) {
	file, err := f.compose()
	if err != nil {
		f.settle(err)
	}
	return file, err
}

// Applying is called before routers are told of the hooks that Read gave, and what it
// returns with the outcome.
func (f *Follower) Applying(*workerfile.File) func(error) {
	return func(err error) {
		if err == nil {
			err = f.take()
		}
		f.settle(err)
	}
}

// take makes what is being taken over what runs, and keeps it. Where it can't be kept, it
// runs all the same: what is enforced is newer than what is kept.
func (f *Follower) take() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.next
	if b == nil {
		return nil
	}
	f.running[b.Use], f.newest[b.Use] = b, b
	if err := atomicfile.Write(f.kept(b.Use), b.Raw, 0o600); err != nil {
		f.Log.Error("policy not kept on disk; it runs, and is lost when the worker ends", "policy", b.Short(), "error", err)
	}
	if shadow := f.running[bundle.Shadow]; b.Use == bundle.Enforce && shadow != nil && shadow.Serial <= b.Serial {
		delete(f.running, bundle.Shadow)
		_ = os.Remove(f.kept(bundle.Shadow)) // it is not taken over again: its serial is too low
	}
	f.sweep()
	return nil
}

// settle tells who waits for the outcome of an offer.
func (f *Follower) settle(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		return
	}
	select {
	case f.settled <- err:
	default: // it has one
	}
}

// kept is where the last good bundle of a use is.
func (f *Follower) kept(use bundle.Use) string {
	return filepath.Join(f.Dir, f.Name+"."+string(use)+".bundle")
}
