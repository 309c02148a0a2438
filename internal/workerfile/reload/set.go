package reload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Options configure a Set. Zero Options log nothing.
type Options struct {
	// Linger is how long a hook may still be called under a registration that was changed or
	// removed: the maximum duration of a chain. 0 means [chain.MaxTimeout].
	Linger time.Duration
	// Log receives failed removals, and guards that stay registered; nil discards them.
	Log *slog.Logger
	// Registering is called before a registration is sent; done is called with the outcome. It may
	// be nil.
	Registering func(workerfile.Hook, chain.Registration) (done func(error))
}

// Set is the set of hooks that a worker serves. Close it after use.
type Set struct {
	Options
	worker *worker.Worker

	mu      sync.Mutex // guards members; held while registrations are sent
	members []*member  // in the order of their registration

	waits     sync.Mutex             // guards lingering
	lingering map[*time.Timer]func() // pending calls of later
}

// member is one registration of the set.
type member struct {
	reg   chain.Registration // as in the file
	form  *form              // answers the calls
	slot  *slot
	leave func(context.Context) error
}

// Changes are the ids of registrations by what Apply did to them.
type Changes struct {
	New, Changed, Removed, Same []string
}

// String returns a summary like "2 changed, 1 new".
func (c Changes) String() string {
	var parts []string
	for _, part := range [...]struct {
		ids  []string
		what string
	}{{c.Changed, "changed"}, {c.New, "new"}, {c.Removed, "removed"}} {
		if len(part.ids) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(part.ids), part.what))
		}
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}

// New returns an empty set. The caller keeps ownership of the worker.
func New(w *worker.Worker, o Options) *Set {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Registering == nil {
		o.Registering = func(workerfile.Hook, chain.Registration) func(error) { return func(error) {} }
	}
	o.Linger = cmp.Or(o.Linger, chain.MaxTimeout)
	return &Set{Options: o, worker: w, lingering: map[*time.Timer]func(){}}
}

// Apply replaces the hooks of the set with those of a file, and closes the hooks that it does not
// keep. An error is a [*workerfile.Error] with the place of the hook that was rejected; the set is
// then unchanged. If ctx ends nothing is rolled back, because the worker is about to be closed.
func (s *Set) Apply(ctx context.Context, file *workerfile.File) (Changes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	offers, err := offersOf(file)
	defer func() {
		for _, o := range offers {
			o.form.release()
		}
	}()
	if err != nil {
		return Changes{}, err
	}
	c := &changing{Set: s}
	for _, o := range offers {
		if err := c.take(ctx, o); err != nil {
			c.takeBack(ctx)
			return Changes{}, o.form.Wrong(err)
		}
	}
	c.decide()
	c.takeOff(ctx, offers)
	return c.Changes, nil
}

// Files returns the files, besides the worker file, that the hooks were built from.
func (s *Set) Files() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var files []string
	for _, m := range s.members {
		files = append(files, m.form.Files...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Close closes the hooks, each when its last call has returned. Close the worker first.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var closing sync.WaitGroup // programs may take a while to end
	for _, m := range s.members {
		closing.Go(m.slot.clear)
	}
	closing.Wait()
	s.members = nil
	s.hurry()
}

// member returns the registration with this id, or nil. The caller must hold mu.
func (s *Set) member(id string) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.reg.ID == id })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

// later calls do once no chain that has already begun can call a hook anymore, or when the set is
// closed.
func (s *Set) later(do func()) {
	s.waits.Lock()
	defer s.waits.Unlock()
	var timer *time.Timer
	timer = time.AfterFunc(s.Linger, func() {
		s.waits.Lock()
		delete(s.lingering, timer)
		s.waits.Unlock()
		do()
	})
	s.lingering[timer] = do
}

// hurry makes all pending calls of later at once.
func (s *Set) hurry() {
	s.waits.Lock()
	defer s.waits.Unlock()
	for timer, do := range s.lingering {
		if timer.Stop() {
			do()
		}
		delete(s.lingering, timer)
	}
}

// errTaken is the error if another hook has the id of a hook's contributions.
var errTaken = errors.New("is another hook's, and the hook's contributions are registered under it: rename one of them")
