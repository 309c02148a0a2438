package filewatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Settle is how long content must be unchanged before a change is reported. It is longer than the
// pauses of a program that writes a file in parts.
const Settle = 500 * time.Millisecond

// Tests shorten these with [SettleAfter].
var (
	settleTime = Settle
	retryAfter = time.Second // delay before a directory that could not be watched is tried again
)

// SettleAfter replaces [Settle] for all watchers of this process. It is for tests, which must call
// it before they create a watcher.
func SettleAfter(d time.Duration) { settleTime, retryAfter = d, d }

// Watcher watches files. Call [Watcher.Close].
type Watcher struct {
	watcher *fsnotify.Watcher
	events  chan struct{} // signals an event in a directory
	changed chan struct{}
	done    chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	states map[string]state
}

// New watches files and directories.
func New(files ...string) (*Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{watcher: watcher, events: make(chan struct{}, 1), changed: make(chan struct{}, 1), done: make(chan struct{})}
	if err := w.Watch(files...); err != nil {
		_ = watcher.Close()
		return nil, err
	}
	w.running.Go(w.listen)
	w.running.Go(func() { settle(w.done, w.events, w.look, func() { notify(w.changed) }) })
	return w, nil
}

// Changed returns a channel that receives a value after a change.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Watch replaces the watched files and directories. A file that was already watched counts as
// changed if it differs from its last settled state.
func (w *Watcher) Watch(files ...string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	states := make(map[string]state, len(files))
	for _, file := range files {
		known, ok := w.states[file]
		if !ok {
			known = stateOf(file)
		}
		states[file] = known
	}
	w.states = states
	return w.follow()
}

// follow watches the directories of the files, those that their links lead to, and the
// watched directories themselves. The caller holds mu.
func (w *Watcher) follow() error {
	wanted := map[string]bool{}
	for file := range w.states {
		wanted[filepath.Dir(file)] = true
		target, err := filepath.EvalSymlinks(file)
		if err != nil {
			continue
		}
		wanted[filepath.Dir(target)] = true
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			wanted[target] = true
		}
	}
	for _, dir := range w.watcher.WatchList() {
		if !wanted[dir] {
			_ = w.watcher.Remove(dir) // it may be gone
		}
	}
	var failed []error
	for dir := range wanted {
		if err := w.watcher.Add(dir); err != nil {
			failed = append(failed, fmt.Errorf("watch %s: %w", dir, err))
		}
	}
	return errors.Join(failed...)
}

// look returns the current states, and whether they differ from the last settled ones.
// With settled set, the current states become the settled ones.
func (w *Watcher) look(settled bool) (now map[string]state, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.follow() != nil { // a missing directory may come back
		time.AfterFunc(retryAfter, func() { notify(w.events) })
	}
	now = make(map[string]state, len(w.states))
	for file, before := range w.states {
		now[file] = stateOf(file)
		changed = changed || now[file] != before
	}
	if settled {
		w.states = now
	}
	return now, changed
}

// listen signals events of the system. The states of the files are compared later.
func (w *Watcher) listen() {
	for {
		select {
		case _, ok := <-w.watcher.Events:
			if !ok {
				return
			}
		case _, ok := <-w.watcher.Errors: // events were lost
			if !ok {
				return
			}
		}
		notify(w.events)
	}
}

// Close stops watching.
func (w *Watcher) Close() {
	close(w.done)
	_ = w.watcher.Close()
	w.running.Wait()
}

// notify sends to a channel of capacity 1 without blocking.
func notify(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
