package embedded

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Limits of one second.
const (
	maxLines   = 20   // lines about clients; more are omitted
	maxRefused = 1000 // messages that the server does not permit; more are a flood
)

// The server begins a line about a client with its address and number, and then what the client says
// of itself. It writes one for each message that it does not permit.
const (
	ofClient = " - cid:"
	refused  = " - Publish Violation - Subject %q"
)

// logger forwards the server's log, and passes fatal errors to Start, since the server must not
// exit the process.
type logger struct {
	log     *slog.Logger
	fatal   chan string
	flooded func() // see [Options.Flooded]

	mu             sync.Mutex // guards the fields below
	since          time.Time
	lines, refused int // about clients since then, and those among them about refused messages
}

func newLogger(o Options) *logger {
	log := cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &logger{log: log.With("from", "nats-server"), fatal: make(chan string, 1), flooded: o.Flooded}
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}

func (l *logger) Warnf(format string, args ...any) { l.write(slog.LevelWarn, format, args) }

func (l *logger) Errorf(format string, args ...any) { l.write(slog.LevelError, format, args) }

func (l *logger) write(level slog.Level, format string, args []any) {
	if strings.Contains(format, ofClient) {
		line, flood := l.count(strings.HasSuffix(format, refused))
		if flood && l.flooded != nil {
			l.flooded()
		}
		if line == maxLines+1 {
			l.log.Warn("further lines about clients omitted", "for", time.Second)
		}
		if line > maxLines {
			return
		}
	}
	l.log.Log(context.Background(), level, fmt.Sprintf(format, args...)) //nolint:sloglint // the server words its own lines
}

// count counts a line about a client, which may be about a refused message. It returns the number of
// such lines in this second, and whether the refused messages are a flood from this one on.
func (l *logger) count(isRefused bool) (line int, flood bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.since) > time.Second {
		l.since, l.lines, l.refused = now, 0, 0
	}
	l.lines++
	if isRefused {
		l.refused++
	}
	return l.lines, isRefused && l.refused == maxRefused+1
}

func (l *logger) Fatalf(format string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, args...):
	default:
	}
}
