package pathguard

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Judge says something of a tool call. It is a pure function, safe for concurrent use.
type Judge func(events.Event, events.Tool) bool

// Secret reports whether a tool call touches a file that is among the secrets that path-guard
// knows, or more patterns, and not among public ones; or may touch one by a pattern of names
// or through its directory.
func Secret(more, public []paths.Pattern) Judge {
	secrets, _ := builtIn()
	return policy{secrets: append(slices.Clip(secrets), more...), allow: public, unclear: decision.Allow, outside: decision.Allow}.touches
}

// Among is the same for patterns alone.
func Among(patterns []paths.Pattern) Judge {
	return policy{secrets: patterns, unclear: decision.Allow, outside: decision.Allow}.touches
}

// Outside reports whether a tool call writes outside of the directory where the agent works,
// and of /tmp.
func Outside() Judge { return policy{unclear: decision.Allow, outside: decision.Deny}.denies }

// Written reports whether a tool call writes among patterns.
func Written(patterns []paths.Pattern) Judge {
	return policy{denyWrite: patterns, unclear: decision.Allow, outside: decision.Allow}.denies
}

func (p policy) denies(ev events.Event, tool events.Tool) bool {
	return p.result(newBudget(context.Background()), ev, tool).Action == chain.Deny
}

func (p policy) touches(ev events.Event, tool events.Tool) bool {
	p.root = paths.Resolve(decision.Root(ev), "")
	w := newBudget(context.Background())
	all, _ := searched(tool, ev)
	within, whole := nested(tool, ev)
	w.spent = !whole
	all = append(all, within...)
	for _, file := range pathsOf(tool) {
		all = append(all, ofTool(tool, file))
	}
	if tool.Command != "" {
		named, _ := ofScript(w, shell.Parse(tool.Command, tool.Cwd))
		all = append(all, named...)
	}
	maybe := p
	maybe.unclear = decision.Ask
	return w.spent || slices.ContainsFunc(all, func(a access) bool {
		return p.judge(a).Decision == decision.Deny || maybe.partly(a).Decision != ""
	})
}
