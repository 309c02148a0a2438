package filewatch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// state is the state of a file at one time. The zero state means that the file does not exist.
type state struct {
	there   bool
	content [sha256.Size]byte // hash of the content, or of a directory's listing
	written int64             // nanoseconds since 1970; 0 for a directory
}

func stateOf(file string) (s state) {
	f, err := os.Open(file)
	if err != nil {
		return state{}
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
	case info.IsDir():
		s.content = listing(f)
	case info.Mode().IsRegular():
		s.written = info.ModTime().UnixNano()
		sum := sha256.New()
		_, _ = io.Copy(sum, f) // as far as it can be read
		sum.Sum(s.content[:0])
	}
	s.there = true
	return s
}

// listing hashes a directory as far as it can be read: names, and the size and
// modification time of files.
func listing(dir *os.File) (sum [sha256.Size]byte) {
	names, _ := dir.Readdirnames(-1)
	slices.Sort(names)
	text := sha256.New()
	for _, name := range names {
		fmt.Fprintf(text, "%q", name)
		if info, err := os.Stat(filepath.Join(dir.Name(), name)); err == nil && info.Mode().IsRegular() {
			fmt.Fprintf(text, " %d %d", info.ModTime().UnixNano(), info.Size())
		}
	}
	text.Sum(sum[:0])
	return sum
}

// settle calls changed when the files have changed after an event and then stayed
// unchanged for [Settle]. look reports their states, and records them with settled set.
func settle(done, events <-chan struct{}, look func(settled bool) (map[string]state, bool), changed func()) {
	var last map[string]state
	var still <-chan time.Time
	for {
		select {
		case <-done:
			return
		case <-events:
			if still == nil {
				last, _ = look(false)
				still = time.After(settleTime)
			}
		case <-still:
			now, _ := look(false)
			if !maps.Equal(now, last) {
				last, still = now, time.After(settleTime)
				continue
			}
			still = nil
			if _, other := look(true); other {
				changed()
			}
		}
	}
}
