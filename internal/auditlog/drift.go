package auditlog

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// streamSettings watches the settings of the streams. A difference makes this replica not ready,
// and is recorded.
func (l *Log) streamSettings(prefix string) *natsx.Settings {
	return &natsx.Settings{
		Of: "audit log", Prefix: prefix, Log: l.log,
		Inspect: func(ctx context.Context) (wrong string, err error) {
			stream, drift, err := l.store.Drift(ctx)
			if err != nil || len(drift) == 0 {
				return "", err
			}
			return fmt.Sprintf("the audit stream %s is not append-only: %s", stream, strings.Join(drift, ", ")), nil
		},
		Soon: l.store.Changed,
		Changed: func(wrong string) {
			if wrong == "" {
				l.note("restored", l.store.Live().Name()+" is append-only again")
				return
			}
			l.note("drifted", wrong)
		},
	}
}
