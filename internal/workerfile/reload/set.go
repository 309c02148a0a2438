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

// Options of a Set. The zero Options log nothing.
type Options struct {
	// Linger is how long a hook may be called by a registration that is changed or
	// gone: as long as a chain takes. 0 means [chain.MaxTimeout].
	Linger time.Duration
	// Log gets what could not be taken off, and guards that stay; nil discards it.
	Log *slog.Logger
	// Registering is called before a registration is sent, and what it
	// returns with the outcome. Nil for nobody.
	Registering func(workerfile.Hook, chain.Registration) (done func(error))
}

// Set is the hooks that a worker answers for. Close it.
type Set struct {
	Options
	worker *worker.Worker

	mu      sync.Mutex // guards members; held while registrations are sent
	members []*member  // in the order of their registration

	waits     sync.Mutex             // guards lingering
	lingering map[*time.Timer]func() // what later is still to call
}

// member is one registration of the set.
type member struct {
	reg   chain.Registration // as the file has it
	form  *form              // what answers
	slot  *slot
	leave func(context.Context) error
}

// Changes are what Apply did, by ids of registrations.
type Changes struct {
	New, Changed, Removed, Same []string
}

// String is like "2 changed, 1 new".
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

// New makes a set without hooks. The worker stays the caller's.
func New(w *worker.Worker, o Options) *Set {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Registering == nil {
		o.Registering = func(workerfile.Hook, chain.Registration) func(error) { return func(error) {} }
	}
	o.Linger = cmp.Or(o.Linger, chain.MaxTimeout)
	return &Set{Options: o, worker: w, lingering: map[*time.Timer]func(){}}
}

// Apply makes the hooks of a file those of the set, and closes what it does not need
// of it. An error is a [*workerfile.Error] with the place of the hook that was refused:
// then everything is as it was. When ctx ends nothing is taken back: the worker is about
// to be closed.
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

// Files are those that the hooks were built from, besides the worker file.
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

// Close closes the hooks, each when its last call has returned. The worker was closed
// before.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var closing sync.WaitGroup // programs that are to end may take their time
	for _, m := range s.members {
		closing.Go(m.slot.clear)
	}
	closing.Wait()
	s.members = nil
	s.hurry()
}

// member is the registration with this id, or nil. The caller holds mu.
func (s *Set) member(id string) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.reg.ID == id })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

// later calls do when no chain that began by now can call a hook any more, or when the
// set is closed.
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

// hurry calls at once what would be called later.
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

// errTaken means that another hook has the id of a hook's contributions.
var errTaken = errors.New("is another hook's, and the hook's contributions are registered under it: rename one of them")
