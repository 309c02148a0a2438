package follow

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/workerfile"
)

// offer makes package serve apply the hooks of a bundle, and returns the outcome.
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

// Read returns the hooks of the running bundles and of the bundle that is being applied.
func (f *Follower) Read() (*workerfile.File, error) {
	file, err := f.compose()
	if err != nil {
		f.settle(f.composed, err)
	}
	return file, err
}

// Applying is called before the hooks that Read returned are registered. The function that it
// returns is called with the outcome.
func (f *Follower) Applying(*workerfile.File) func(error) {
	of := f.composed
	return func(err error) {
		if err == nil {
			f.take(of)
		}
		f.settle(of, err)
	}
}

// take marks a bundle as running if it is the offered one, and stores it on disk unless a worker
// that shares the directory stored a newer one. The bundle runs even if it can't be stored.
func (f *Follower) take(b *bundle.Bundle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b == nil || b != f.next {
		return
	}
	f.running[b.Use], f.newest[b.Use] = b, b
	if raw, err := os.ReadFile(f.kept(b.Use)); err == nil && f.newer(raw, b) {
		f.Log.Warn("another worker keeps a newer version in the same directory", "policy", b.Short())
	} else if err := atomicfile.Write(f.kept(b.Use), b.Raw, 0o600); err != nil {
		f.Log.Error("policy not kept on disk; it runs, and is lost when the worker ends", "policy", b.Short(), "error", err)
	}
	if shadow := f.running[bundle.Shadow]; b.Use == bundle.Enforce && shadow != nil && shadow.Serial <= b.Serial {
		delete(f.running, bundle.Shadow)
		_ = os.Remove(f.kept(bundle.Shadow)) // its serial is too low to be applied again
	}
	f.sweep()
}

// newer reports whether a stored bundle is a later version than the other.
func (f *Follower) newer(raw []byte, than *bundle.Bundle) bool {
	b, err := f.verify(raw)
	return err == nil && b.Name == f.Name && b.Use == than.Use && b.Serial > than.Serial
}

// settle sends the outcome of an offer, if it is about the offered bundle.
func (f *Follower) settle(of *bundle.Bundle, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of == nil || of != f.next {
		return
	}
	select {
	case f.settled <- err:
	default: // the outcome was already sent
	}
}

// kept returns the path of the last applied bundle of a use.
func (f *Follower) kept(use bundle.Use) string {
	return filepath.Join(f.Dir, f.Name+"."+string(use)+".bundle")
}
