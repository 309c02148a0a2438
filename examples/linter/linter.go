package linter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookrouter/hookrouter/examples/internal/paths"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxOutput is how much of a linter's output the agent is told, in bytes; the
// limit of one injection is 10 KiB.
const maxOutput = 8 << 10

// Options says where files and linters are.
type Options struct {
	// Dir is the directory that relative paths are of, where the agent does not
	// tell its own (cwd); empty means the hook's working directory.
	Dir string
	// LookPath finds a linter; nil means [exec.LookPath].
	LookPath func(name string) (string, error)
}

// Registration is how the hook asks to be called: after the tools that write
// files, with the time a linter takes.
func Registration() chain.Registration {
	return chain.Registration{
		ID:        "linter-feedback",
		Events:    []string{events.ToolPost},
		Priority:  10,
		TimeoutMS: 30_000,
		Match:     "has(data.tool_name) && data.tool_name in ['Write', 'Edit', 'MultiEdit', 'write_file', 'replace']",
	}
}

// Hook returns the hook. It is safe for concurrent use.
func Hook(opts Options) chain.Hook {
	if opts.LookPath == nil {
		opts.LookPath = exec.LookPath
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		files, err := paths.Of(ev)
		if err != nil || len(files) == 0 {
			return chain.Result{}, err
		}
		file := files[0]
		if !filepath.IsAbs(file) {
			if file, err = filepath.Abs(filepath.Join(opts.Dir, file)); err != nil {
				return chain.Result{}, fmt.Errorf("find %s: %w", files[0], err)
			}
		}
		candidates := lintersFor(filepath.Ext(file))
		if len(candidates) == 0 {
			return chain.Result{}, nil
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return notLinted(file, "it is not on the linter's machine"), nil
		}
		return opts.lint(ctx, file, candidates)
	}
}

// lint runs the first linter that works.
func (o Options) lint(ctx context.Context, file string, candidates []linter) (chain.Result, error) {
	var tried []string
	for _, l := range candidates {
		tried = append(tried, l.name)
		program, err := o.LookPath(l.program)
		if err != nil {
			continue
		}
		found, ok, err := l.run(ctx, program, file)
		if err != nil {
			return chain.Result{}, err
		}
		if !ok {
			continue
		}
		if found == "" {
			return chain.Result{}, nil
		}
		return feedback(file, l.name, found), nil
	}
	return notLinted(file, "no linter works here (tried "+strings.Join(tried, ", ")+")"), nil
}

// feedback is the result for a file with issues.
func feedback(file, linter, found string) chain.Result {
	lines := strings.Count(found, "\n") + 1
	issues := fmt.Sprintf("%d linting issues", lines)
	if lines == 1 {
		issues = "1 linting issue"
	}
	if len(found) > maxOutput {
		found = strings.ToValidUTF8(found[:maxOutput], "") + "\n... (cut)"
	}
	result := chain.Injection(fmt.Sprintf("Linter issues in %s (%s):\n%s", file, linter, found))
	result.UserMessage = fmt.Sprintf("Found %s in %s", issues, filepath.Base(file))
	result.UserMessageLevel = chain.LevelWarning
	result.SuppressOutput = true
	return result
}

func notLinted(file, why string) chain.Result {
	return chain.Result{UserMessage: fmt.Sprintf("Not linted: %s: %s", filepath.Base(file), why), UserMessageLevel: chain.LevelInfo}
}
