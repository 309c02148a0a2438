package filewatch

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// script is files whose content a test writes.
type script struct {
	mu          sync.Mutex // guards what follows
	now, before map[string]state
	looks       int
}

func (s *script) write(content byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = map[string]state{"f": {there: true, content: [32]byte{content}}}
}

func (s *script) look(settled bool) (map[string]state, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	changed := s.now["f"] != s.before["f"]
	if settled {
		s.before = s.now
	}
	return s.now, changed
}

func TestAChangeIsReportedOnceItHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &script{}
		var reported atomic.Int32
		done, events := make(chan struct{}), make(chan struct{})
		go settle(done, events, files.look, func() { reported.Add(1) })
		wait := func(d time.Duration, want int32, when string) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			if n := reported.Load(); n != want {
				t.Errorf("%s it was reported %d times; want %d", when, n, want)
			}
		}
		for content := range byte(5) { // written in pieces
			files.write(content + 1)
			events <- struct{}{}
			wait(Settled*4/5, 0, "while the file is written")
		}
		wait(2*Settled, 1, "then")
		events <- struct{}{}
		wait(3*Settled, 1, "with an event of another file")
		files.write(9)
		events <- struct{}{}
		wait(0, 1, "with a change")
		files.write(5)
		wait(3*Settled, 1, "with a change that was taken back")
		files.write(7)
		for range 100 { // others are written all the time
			events <- struct{}{}
			<-time.After(Settled / 10)
		}
		wait(0, 2, "in the midst of other events")
		if files.looks > 100 {
			t.Errorf("%d times the files were read", files.looks)
		}
		close(done)
	})
}
