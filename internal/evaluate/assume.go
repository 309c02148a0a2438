package evaluate

import (
	"context"
	"errors"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// errAssumed is the failure of a hook that a test takes to fail.
var errAssumed = errors.New("the test assumes it")

// assumeHint is what a test can do about a hook that was not called; empty for another error.
func assumeHint(err error) string {
	if _, ok := errors.AsType[*Undecided](err); !ok {
		return ""
	}
	return "; or let the test say what it answers, like assume: {<id>: continue}"
}

// assuming is a file in which some hooks answer what a test assumes, and do nothing else.
// The other hooks are those of file, which closes them.
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
