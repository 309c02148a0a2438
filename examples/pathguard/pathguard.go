package pathguard

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/examples/internal/paths"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says what is protected. The zero value protects what an agent should
// hardly ever touch.
type Options struct {
	// Dirs are protected with all that is in them. One with a slash is an absolute
	// directory; a bare name protects every directory of that name. nil means the
	// system's settings, root's home, processes (through whose entries every file
	// can be reached), and the directories where keys are kept.
	Dirs []string
	// Secrets are endings of file names; such files are protected wherever they
	// are. nil means .env and its variants, .key and .pem.
	Secrets []string
}

// Registration is how the guard asks to be called: before others, for every tool
// that is given a path.
func Registration() chain.Registration {
	return chain.Registration{
		ID:         "path-guard",
		Events:     []string{events.ToolPre},
		Priority:   1,
		OnFailure:  chain.FailClosed,
		Match:      paths.Match,
		ReplaySafe: true,
	}
}

// Hook returns the guard. It is safe for concurrent use.
func Hook(opts Options) chain.Hook {
	if opts.Dirs == nil {
		opts.Dirs = []string{"/etc", "/private/etc", "/root", "/proc", ".ssh", ".gnupg", ".aws", ".kube"}
	}
	if opts.Secrets == nil {
		opts.Secrets = []string{".env", ".env.local", ".env.production", ".key", ".pem"}
	}
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		files, err := paths.Of(ev)
		if err != nil {
			return chain.Result{}, err
		}
		for _, file := range files {
			if reason := opts.judge(file); reason != "" {
				return chain.Denial(fmt.Sprintf("Access denied: %s %s", file, reason)), nil
			}
		}
		return chain.Result{}, nil
	}
}

// judge returns why a file is protected, or "".
func (o Options) judge(file string) string {
	name := strings.ToLower(file)
	for _, dir := range o.Dirs {
		dir = strings.ToLower(strings.TrimRight(dir, "/"))
		within := strings.HasPrefix(name+"/", dir+"/")
		if !strings.Contains(dir, "/") {
			within = strings.Contains("/"+name+"/", "/"+dir+"/")
		}
		if within {
			return "is in a protected directory"
		}
	}
	for _, ending := range o.Secrets {
		if strings.HasSuffix(name, strings.ToLower(ending)) {
			return "contains sensitive data"
		}
	}
	return ""
}
