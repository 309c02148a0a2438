package resident

import (
	"bytes"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hookrouter/hookrouter/internal/process"
)

// Limits of a program's log lines.
const (
	noticeBurst = 20
	noticeEvery = time.Second
	maxHeld     = 4 << 10 // bytes of a line of standard error; the rest of the line is dropped
)

// notices logs messages about a program with a rate limit.
type notices struct {
	log     *slog.Logger
	mu      sync.Mutex // guards the fields below
	limit   *rate.Limiter
	dropped int
}

func newNotices(log *slog.Logger) *notices {
	return &notices{log: log, limit: rate.NewLimiter(rate.Every(noticeEvery), noticeBurst)}
}

func (n *notices) allowed() (dropped int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.limit.Allow() {
		n.dropped++
		return 0, false
	}
	dropped, n.dropped = n.dropped, 0
	return dropped, true
}

func (n *notices) warn(what string, attrs ...any) { n.tell(n.log.Warn, what, attrs) }
func (n *notices) info(what string, attrs ...any) { n.tell(n.log.Info, what, attrs) }

func (n *notices) tell(log func(string, ...any), what string, attrs []any) {
	dropped, ok := n.allowed()
	if !ok {
		return
	}
	if dropped > 0 {
		attrs = append(attrs, "dropped", dropped)
	}
	log(what, attrs...)
}

// lastLine logs the lines of a standard error, and keeps the last one. One goroutine writes to it;
// line must be read only after that goroutine is done.
type lastLine struct {
	notices *notices
	held    []byte // the start of an incomplete line
	line    string
}

// Write never fails.
func (l *lastLine) Write(p []byte) (int, error) {
	n := len(p)
	for {
		before, after, ended := bytes.Cut(p, []byte("\n"))
		l.held = append(l.held, before[:min(len(before), maxHeld-len(l.held))]...)
		if !ended {
			return n, nil
		}
		if line := process.Printable(l.held); line != "" {
			l.line = line
			l.notices.info("hook process says", "stderr", line)
		}
		l.held, p = l.held[:0], after
	}
}

// end completes the last line.
func (l *lastLine) end() { _, _ = l.Write([]byte("\n")) }
