package eventlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/DeRuina/timberjack"
)

// flushEvery is how long lines wait at most. Tests shorten it.
var flushEvery = time.Second

const (
	flushSize  = 64 << 10 // bytes that are written at once, before the second is over
	maxWaiting = 4 << 20  // bytes that wait while the file can't be written
)

// errSlow is why events are lost although the file can be written.
var errSlow = errors.New("the disk is slower than the events come")

// settings are checked Options.
type settings struct {
	path                         string // absolute
	maxSizeMB, rotateHours, keep int
	gzip                         bool
}

// files are the files of this process that hooks write to, by their path as
// configured. Hooks share them, so that a hook that is reloaded goes on in its file.
var files = struct {
	sync.Mutex
	byPath map[string]*file
}{byPath: map[string]*file{}}

// file is one that lines are added to.
type file struct {
	log  *slog.Logger
	wake chan struct{} // there is much to write; holds one
	stop chan struct{}
	done chan struct{}
	// start starts the goroutine, with the first line.
	start sync.Once

	hooks int // that share it; guarded by files

	mu      sync.Mutex // guards what follows; held for no I/O
	set     settings   // those of the hook that came last
	waiting []byte     // whole lines, but for the first while a write was cut short
	taken   int        // bytes that are being written
	err     error      // of the last write; nil while all is well
	lost    uint64     // events since the file could be written

	// Of the goroutine alone.
	out    *timberjack.Logger // nil while closed
	as     settings           // what out was opened with
	unlock func()             // lets go of out's lock
}

// share returns the file for a hook, which releases it.
func share(set settings, log *slog.Logger) *file {
	files.Lock()
	defer files.Unlock()
	f := files.byPath[set.path]
	if f == nil {
		f = &file{log: log, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
		files.byPath[set.path] = f
	}
	f.hooks++
	f.mu.Lock()
	f.set = set
	f.mu.Unlock()
	return f
}

// release closes the file where no other hook has it; what waits is written then.
func (f *file) release() {
	files.Lock()
	defer files.Unlock()
	if f.hooks--; f.hooks > 0 {
		return
	}
	delete(files.byPath, f.set.path)
	close(f.stop)
	f.start.Do(func() { close(f.done) })
	<-f.done
}

// append takes a line. The error says that the file can't be written, and whether the
// line waits or is lost.
func (f *file) append(line []byte) error {
	f.start.Do(func() { go f.run() })
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(line) > f.set.maxSizeMB<<20:
		return fmt.Errorf("the event is not written: it has %d bytes, and a file at most %d MiB, the limit max_size_mb", len(line), f.set.maxSizeMB)
	case len(f.waiting)+f.taken+len(line) > max(maxWaiting, len(line)):
		f.lost++
		return fmt.Errorf("the event is lost, since %d KiB wait already: %w", (len(f.waiting)+f.taken)>>10, cmp.Or(f.err, errSlow))
	}
	f.waiting = append(f.waiting, line...)
	if len(f.waiting) >= flushSize && f.err == nil {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
	if f.err != nil {
		return fmt.Errorf("the event waits in memory: %w", f.err)
	}
	return nil
}

// run writes what waits, until the file is released.
func (f *file) run() {
	defer close(f.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-f.wake:
		case <-f.stop:
			f.flush()
			f.close()
			if len(f.waiting) > 0 {
				f.log.Error("events lost; event log not writable", "bytes", len(f.waiting), "error", f.err)
			}
			return
		}
		f.flush()
	}
}

// flush writes what waits.
func (f *file) flush() {
	f.mu.Lock()
	text, set := f.waiting, f.set
	f.waiting, f.taken = nil, len(text)
	f.mu.Unlock()
	if len(text) == 0 {
		return
	}
	rest, err := f.write(text, set)
	if err != nil {
		f.close() // opened again by the next write: it may be another disk then
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting, f.taken = append(rest, f.waiting...), 0
	switch {
	case err != nil && f.err == nil:
		f.log.Error("event log not writable; events wait", "error", err)
	case err == nil && f.err != nil:
		f.log.Warn("event log writable again", "events_lost", f.lost)
		f.lost = 0
	}
	f.err = err
}

// write writes whole lines, and returns what is left.
func (f *file) write(text []byte, set settings) (rest []byte, err error) {
	if f.out != nil && f.as != set {
		f.close()
	}
	if f.out == nil {
		if err := f.open(set); err != nil {
			return text, err
		}
	}
	for len(text) > 0 {
		n, err := f.out.Write(text[:lines(text, flushSize)])
		text = text[n:]
		if err != nil {
			return text, err
		}
	}
	return nil, nil
}

// lines is the length of the lines at the beginning of a text that have about size
// bytes, of one line at least.
func lines(text []byte, size int) int {
	if len(text) <= size {
		return len(text)
	}
	if end := bytes.LastIndexByte(text[:size], '\n'); end >= 0 {
		return end + 1
	}
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end + 1
	}
	return len(text)
}
