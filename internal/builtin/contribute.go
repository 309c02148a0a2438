package builtin

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// The channels that builtins give to.
const (
	SessionMetadata = "session.metadata" // what is known of sessions: names, counts
	SessionTodos    = "session.todos"    // the agents' lists of things to do
)

// maxContributed bounds the sessions of one contribution, which is one message.
const maxContributed = 500

// Contribution gives what is remembered of each session, as show makes it public; nil
// leaves a session out. Where there are more sessions than fit, some are left out.
func Contribution[T any](states hookstate.Sessions[T], show func(T) any) kind.Contributor {
	return func(ctx context.Context, _ string) (any, error) {
		list := []any{}
		err := states.Each(ctx, func(value T) bool {
			if shown := show(value); shown != nil {
				list = append(list, shown)
			}
			return len(list) < maxContributed
		})
		return list, err
	}
}
