package filewatch

import (
	"crypto/sha256"
	"io"
	"maps"
	"os"
	"time"
)

// state is what a file is at one moment; the zero state is one that is not there.
type state struct {
	there   bool
	content [sha256.Size]byte
	written int64 // nanoseconds since 1970
}

func stateOf(file string) (s state) {
	f, err := os.Open(file)
	if err != nil {
		return state{}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		s.written = info.ModTime().UnixNano()
		sum := sha256.New()
		_, _ = io.Copy(sum, f) // what can be read
		sum.Sum(s.content[:0])
	}
	s.there = true
	return s
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
