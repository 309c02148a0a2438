package evaluate

import (
	"context"
	"errors"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// errAssumed is the failure of a hook that a test assumes to fail.
var errAssumed = errors.New("the test assumes it")

// assumeHint returns a hint on how a test can handle a hook that was not called, or "" for other
// errors.
func assumeHint(err error) string {
	if _, ok := errors.AsType[*Undecided](err); !ok {
		return ""
	}
	return "; or let the test say what it answers, like assume: {<id>: continue}"
}

// assuming returns a file in which the hooks with an assumed answer only return that answer. The
// other hooks belong to file, which closes them.
func assuming(file *workerfile.File, assumed map[string]workerfile.Assumed) *workerfile.File {
	all := &workerfile.File{}
	for _, h := range file.Hooks {
		if a, is := assumed[h.Registration.ID]; is {
			h.Lacks = nil
			h.Hook = kind.Hook{Handler: func(context.Context, events.Event) (chain.Result, error) {
				if a.Fails {
					return chain.Result{}, errAssumed
				}
				return a.Result, nil
			}}
		}
		all.Hooks = append(all.Hooks, h)
	}
	return all
}
