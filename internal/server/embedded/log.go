package embedded

import (
	"cmp"
	"fmt"
	"log/slog"
)

// logger forwards the server's log, and passes fatal errors to Start, since the server must not
// exit the process.
type logger struct {
	log   *slog.Logger
	fatal chan string
}

func newLogger(log *slog.Logger) *logger {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &logger{log.With("from", "nats-server"), make(chan string, 1)}
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}

func (l *logger) Warnf(format string, args ...any) {
	l.log.Warn(fmt.Sprintf(format, args...)) //nolint:sloglint // the server words its own lines
}

func (l *logger) Errorf(format string, args ...any) {
	l.log.Error(fmt.Sprintf(format, args...)) //nolint:sloglint // the server words its own lines
}

func (l *logger) Fatalf(format string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, args...):
	default:
	}
}
