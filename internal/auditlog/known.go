package auditlog

import (
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// KnownHook returns a durable hook that the log has recorded, and a guard that was pinned before
// it; both are empty if there is none. It reads the log from its beginning to the first such hook.
func (l *Log) KnownHook(ctx context.Context) (hook, guard string, err error) {
	if l.writer.Mode == recorder.Off {
		return "", "", nil
	}
	err = l.store.Records(ctx, func(body []byte) (more bool) {
		lines, err := audit.Lines(body)
		if err != nil {
			return true // verification reports it
		}
		for _, line := range lines {
			var record struct {
				Kind         audit.Kind
				Hook, Action string
				Registration *chain.Registration
			}
			if json.Unmarshal(line, &record) != nil || record.Kind != audit.RegistrationKind {
				continue
			}
			switch {
			case record.Action == "pinned":
				guard = record.Hook
			case record.Registration != nil && record.Registration.StaysRegistered():
				hook = record.Hook
				return false
			}
		}
		return true
	})
	return hook, guard, err
}
