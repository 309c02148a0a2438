package why

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
)

// Find returns the story of an id, or of the last denial if the id is empty. whole is passed to
// [query.Log.Find]. The error is [query.ErrNoChain] if the log contains nothing for the id.
func Find(ctx context.Context, l *query.Log, id string, whole func() bool) (Story, error) {
	found, err := l.Find(ctx, id, whole)
	if err != nil {
		return Story{}, err
	}
	c, err := l.Chain(ctx, found.Chains[0])
	if err != nil {
		return Story{}, err
	}
	s := Of(c)
	s.ID, s.Kind, s.Others, s.More = id, found.Kind, found.Chains[1:], found.More
	return s, nil
}
