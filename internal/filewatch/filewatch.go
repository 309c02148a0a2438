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

// Settle is how long content must have stood still before it counts: longer than
// programs rest that write a file in pieces.
const Settle = 500 * time.Millisecond

// again is how soon a directory that could not be watched is looked for again.
const again = time.Second

// Watcher watches files. Close it.
type Watcher struct {
	notify  *fsnotify.Watcher
	events  chan struct{} // something happened in a directory
	changed chan struct{}
	done    chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	states map[string]state
}

// New watches files and directories.
func New(files ...string) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{notify: notify, events: make(chan struct{}, 1), changed: make(chan struct{}, 1), done: make(chan struct{})}
	if err := w.Watch(files...); err != nil {
		_ = notify.Close()
		return nil, err
	}
	w.running.Go(w.listen)
	w.running.Go(func() { settle(w.done, w.events, w.look, func() { tell(w.changed) }) })
	return w, nil
}

// Changed has a value after a change.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Watch says which files and directories are watched from now on. One that was
// watched before counts as changed if it is other than it was then.
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

// follow watches the directories that the files are in now, and where their links
// lead; and those that are directories. The caller holds mu.
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
	for _, dir := range w.notify.WatchList() {
		if !wanted[dir] {
			_ = w.notify.Remove(dir) // it may be gone
		}
	}
	var failed []error
	for dir := range wanted {
		if err := w.notify.Add(dir); err != nil {
			failed = append(failed, fmt.Errorf("watch %s: %w", dir, err))
		}
	}
	return errors.Join(failed...)
}

// look returns what the files are now, and whether that is other than what had
// settled before; where settled says so, it has settled as it is now.
func (w *Watcher) look(settled bool) (now map[string]state, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.follow() != nil { // a directory is gone, and may come back
		time.AfterFunc(again, func() { tell(w.events) })
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

// listen passes on that something happened; what, is looked up.
func (w *Watcher) listen() {
	for {
		select {
		case _, ok := <-w.notify.Events:
			if !ok {
				return
			}
		case _, ok := <-w.notify.Errors: // events were lost
			if !ok {
				return
			}
		}
		tell(w.events)
	}
}

// Close ends the watch.
func (w *Watcher) Close() {
	close(w.done)
	_ = w.notify.Close()
	w.running.Wait()
}

func tell(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
