// Package sessioncontext is an example hook that gives a new session what the
// agent should know from the start: the open issues.
//
// It reads them from a text file, one issue in a line, the newest first; a tracker
// is one function away ([Options.Load]). A resumed and a compacted session get
// them too, since the agent may have lost them.
package sessioncontext

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxTitle is how much of an issue's line is told, in characters.
const maxTitle = 200

// Options says where the issues come from.
type Options struct {
	// File is the text file; empty means issues.txt in the working directory.
	// Empty lines do not count. No file, no issues.
	File string
	// Load replaces the file: it returns at most limit issues, the newest first.
	Load func(ctx context.Context, limit int) ([]string, error)
	// Limit is how many issues are told; 0 means 5.
	Limit int
}

// Registration is how the hook asks to be called: at the start of a session.
func Registration() chain.Registration {
	return chain.Registration{ID: "session-context", Events: []string{events.SessionStart}, Priority: 10, ReplaySafe: true}
}

// Hook returns the hook. It is safe for concurrent use where Load is.
func Hook(opts Options) chain.Hook {
	if opts.File == "" {
		opts.File = "issues.txt"
	}
	if opts.Limit == 0 {
		opts.Limit = 5
	}
	if opts.Load == nil {
		opts.Load = opts.read
	}
	return func(ctx context.Context, _ events.Event) (chain.Result, error) {
		issues, err := opts.Load(ctx, opts.Limit)
		if err != nil {
			return chain.Result{}, fmt.Errorf("load issues: %w", err)
		}
		if len(issues) == 0 {
			return chain.Result{}, nil
		}
		var text strings.Builder
		text.WriteString("Recent open issues:")
		for _, issue := range issues[:min(len(issues), opts.Limit)] {
			text.WriteString("\n- " + shorten(issue))
		}
		result := chain.Injection(text.String())
		result.SuppressOutput = true
		return result, nil
	}
}

func (o Options) read(_ context.Context, limit int) ([]string, error) {
	f, err := os.Open(o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var issues []string
	for lines := bufio.NewScanner(f); len(issues) < limit; {
		if !lines.Scan() {
			return issues, lines.Err()
		}
		if line := strings.TrimSpace(lines.Text()); line != "" {
			issues = append(issues, line)
		}
	}
	return issues, nil
}

// shorten returns an issue's text as one line of a bearable length.
func shorten(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxTitle {
		return string(runes[:maxTitle]) + "..."
	}
	return string(runes)
}
