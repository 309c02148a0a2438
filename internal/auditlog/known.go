package auditlog

import (
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// KnownHook is a durable hook whose registration the log has recorded; empty for none. It
// reads the log from its beginning to the first one.
func (l *Log) KnownHook(ctx context.Context) (hook string, err error) {
	if l.mode == recorder.Off {
		return "", nil
	}
	err = l.store.Records(ctx, func(body []byte) (more bool) {
		lines, err := audit.Lines(body)
		if err != nil {
			return true // verification tells of it
		}
		for _, line := range lines {
			var record struct {
				Kind         audit.Kind
				Hook         string
				Registration *chain.Registration
			}
			if json.Unmarshal(line, &record) == nil && record.Kind == audit.RegistrationKind && record.Registration != nil && record.Registration.StaysRegistered() {
				hook = record.Hook
				return false
			}
		}
		return true
	})
	return hook, err
}
