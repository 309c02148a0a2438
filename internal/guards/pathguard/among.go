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

// Judge reports a property of a tool call. It is a pure function and safe for concurrent use.
type Judge func(events.Event, events.Tool) bool

// Secret returns a Judge that reports whether a tool call touches a file that matches path-guard's
// built-in secrets or more, and not public. A pattern of names or a directory that may include such
// a file counts too.
func Secret(more, public []paths.Pattern) Judge {
	secrets, _ := builtIn()
	return policy{secrets: append(slices.Clip(secrets), more...), allow: public, unclear: decision.Allow, outside: decision.Allow}.touches
}

// Among is like Secret, for the given patterns only.
func Among(patterns []paths.Pattern) Judge {
	return policy{secrets: patterns, unclear: decision.Allow, outside: decision.Allow}.touches
}

// Outside returns a Judge that reports whether a tool call writes outside the agent's directory and
// /tmp.
func Outside() Judge { return policy{unclear: decision.Allow, outside: decision.Deny}.denies }

// Written returns a Judge that reports whether a tool call writes to a file that matches patterns.
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
