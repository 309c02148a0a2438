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

// flushEvery is the longest time that lines are buffered. Tests shorten it.
var flushEvery = time.Second

const (
	flushSize  = 64 << 10 // buffered bytes that trigger a write before flushEvery has passed
	maxWaiting = 4 << 20  // bytes that are buffered at most
)

// errSlow is the reason for lost events while writes succeed.
var errSlow = errors.New("the disk is slower than the events come")

// settings are checked Options.
type settings struct {
	path                         string // absolute
	maxSizeMB, rotateHours, keep int
	gzip                         bool
}

// files are the event logs in use by this process, by configured path. Hooks share them, so that a
// reloaded hook continues with the same file.
var files = struct {
	sync.Mutex
	byPath map[string]*file
}{byPath: map[string]*file{}}

// file is an event log that one or more hooks append to.
type file struct {
	log  *slog.Logger
	wake chan struct{} // signals that flushSize bytes are buffered; capacity 1
	stop chan struct{}
	done chan struct{}
	// start starts the goroutine at the first line.
	start sync.Once

	hooks int // number of hooks that share it; guarded by files

	mu      sync.Mutex // guards the fields below; not held during I/O
	set     settings   // of the hook that was built last
	waiting []byte     // whole lines, except that a failed write may leave the rest of one at the start
	taken   int        // bytes of the write in progress
	err     error      // of the last write; nil if it succeeded
	lost    uint64     // events lost since the file was last writable

	// Used only by the goroutine.
	out    *timberjack.Logger // nil while closed
	as     settings           // the settings that out was opened with
	unlock func()             // releases the lock of out
}

// share returns the file for a hook. The hook must release it.
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

// release closes the file if no other hook uses it, after writing the buffered lines.
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

// append buffers a line. It returns an error if the line is too long, was lost, or is buffered
// while the file can't be written.
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

// run writes buffered lines until the file is released.
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

// flush writes the buffered lines.
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
		f.close() // the next write reopens it, possibly on another disk
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

// write writes text in batches of whole lines, and returns what it could not write.
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

// lines returns the length of the longest prefix of whole lines with at most size bytes, or of the
// first line if that is longer.
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
