package productionguard

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/examples/internal/paths"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says what production is. The zero value is the specification's.
type Options struct {
	// Dirs are names of directories; what is below one is production. nil means
	// production.
	Dirs []string
	// Endings are endings of production files; nil means .env.
	Endings []string
	// Timeout is how long a person is waited for; 0 means five minutes.
	Timeout time.Duration
}

// Registration is how the guard asks to be called: after the guards that deny,
// for the tools that write files.
func Registration() chain.Registration {
	return chain.Registration{
		ID:        "production-guard",
		Events:    []string{events.ToolPre},
		Priority:  5,
		OnFailure: chain.FailClosed,
		Match: "has(data.tool_name) && data.tool_name in" +
			" ['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Delete', 'write_file', 'replace']",
		ReplaySafe: true,
	}
}

// Hook returns the guard. It is safe for concurrent use.
func Hook(opts Options) chain.Hook {
	if opts.Dirs == nil {
		opts.Dirs = []string{"production"}
	}
	if opts.Endings == nil {
		opts.Endings = []string{".env"}
	}
	if opts.Timeout == 0 {
		opts.Timeout = 5 * time.Minute
	}
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		files, err := paths.Of(ev)
		if err != nil {
			return chain.Result{}, err
		}
		i := slices.IndexFunc(files, opts.isProduction)
		if i < 0 {
			return chain.Result{}, nil
		}
		ask := chain.Question(fmt.Sprintf("Allow write to production file: %s?", files[i]), "Allow once", "Allow always", "Deny")
		seconds := opts.Timeout.Seconds()
		ask.ApprovalTimeout = &seconds
		ask.ApprovalDefault = chain.Deny
		ask.Reason = "Production file requires explicit user approval"
		return ask, nil
	}
}

func (o Options) isProduction(file string) bool {
	dirs := strings.Split(strings.ToLower(path.Dir(file)), "/")
	return slices.ContainsFunc(o.Dirs, func(d string) bool { return slices.Contains(dirs, strings.ToLower(d)) }) ||
		slices.ContainsFunc(o.Endings, func(e string) bool { return strings.HasSuffix(strings.ToLower(file), strings.ToLower(e)) })
}
