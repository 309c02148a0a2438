package builtin

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// The channels that builtins contribute to.
const (
	SessionMetadata = "session.metadata" // metadata of sessions: names, counts
	SessionTodos    = "session.todos"    // the todo lists of agents
)

// maxContributed limits the sessions in one contribution, which is one message.
const maxContributed = 500

// Contribution returns a contributor that lists the state of each session as show presents it. If
// show returns nil, the session is omitted. At most maxContributed sessions are listed.
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
