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

// state is what a file is at one moment; the zero state is one that is not there.
type state struct {
	there   bool
	content [sha256.Size]byte // of a directory: its listing
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
		_, _ = io.Copy(sum, f) // what can be read
		sum.Sum(s.content[:0])
	}
	s.there = true
	return s
}

// listing is what is in a directory, as far as it can be read: names, and of files when
// they were written.
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

// settle calls changed when, after an event, the files have changed and stood still
// for [Settle]. look reports them, and takes them as seen where it is told that they
// have settled.
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
				still = time.After(Settle)
			}
		case <-still:
			now, _ := look(false)
			if !maps.Equal(now, last) {
				last, still = now, time.After(Settle)
				continue
			}
			still = nil
			if _, other := look(true); other {
				changed()
			}
		}
	}
}
