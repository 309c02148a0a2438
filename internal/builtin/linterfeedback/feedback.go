package linterfeedback

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	maxPaths = 16      // files of one tool call that are linted
	maxText  = 8 << 10 // bytes of one result; the limit of an injection is 10 KiB
)

// writes are the operations after which files are linted. A patch that deletes one file may edit
// another.
var writes = []events.ToolOperation{events.OperationWrite, events.OperationEdit, events.OperationMove, events.OperationDelete}

// Builtin is linter-feedback.
var Builtin = builtin.Of("Lints what an agent wrote, and tells it what is new.",
	chain.Registration{
		Events: []string{events.ToolPre, events.ToolPost, events.SessionEnd}, Priority: 60, TimeoutMS: 25_000,
		Match: `event == "session:end" || tool.operation in ["write", "edit", "move", "delete"]`,
	}, New)

// feedback is the hook.
type feedback struct {
	*checker
	changed  bool // report only new findings
	maxLines int
	states   hookstate.Sessions[baseline]
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	log := builtin.LogOf(s)
	c, err := o.prepare(s.Worker.Dir)
	if err != nil {
		return kind.Hook{}, err
	}
	f := feedback{c, o.Only != OnlyAll, cmp.Or(o.MaxLines, DefaultMaxLines), builtin.StateOf[baseline](s, "linter-feedback")}
	var warnings []error
	if len(c.missing) > 0 {
		warnings = append(warnings, kind.At("", "some linters are not installed here, and their files are not linted: %s", strings.Join(c.missing, ", ")))
	}
	return kind.Hook{Acts: true, Warnings: warnings, Handler: builtin.PerSession(f.states, log, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		switch events.Canonical(ev.Name) {
		case events.ToolPre, events.ToolPost:
			return f.handle(ctx, ev)
		}
		return chain.Result{}, nil
	})}, nil
}

// handle lints the files of a tool call: before it, to record their existing findings, and after
// it, to report new ones.
func (f feedback) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	before := events.Canonical(ev.Name) == events.ToolPre
	tool, _ := data.Tool(ev.Name)
	if tool.Class != events.ClassFile || !slices.Contains(writes, tool.Operation) || builtin.Failed(data) || before && (!f.changed || ev.Session == "") {
		return chain.Result{}, nil
	}
	var text strings.Builder
	left, issues, files := f.maxLines, 0, []string(nil)
	for _, path := range tool.Paths[:min(len(tool.Paths), maxPaths)] {
		rel, inside := f.locate(tool.Cwd, path)
		if !inside {
			continue
		}
		if before {
			if err := f.look(ctx, builtin.Owner(ev), rel); err != nil {
				return chain.Result{}, err
			}
			continue
		}
		found, err := f.news(ctx, builtin.Owner(ev), rel)
		if err != nil {
			return chain.Result{}, err
		}
		f.show(&text, rel, found, &left)
		if len(found) > 0 {
			issues, files = issues+len(found), append(files, printable(rel))
		}
	}
	if text.Len() == 0 {
		return chain.Result{}, nil
	}
	result := chain.Injection(strings.TrimRight(text.String(), "\n"))
	result.Ephemeral, result.AppendToLastToolResult, result.SuppressOutput = true, true, true
	result.UserMessage, result.UserMessageLevel = notice(issues, files), chain.LevelWarning
	return result, nil
}

// notice returns the message for the user.
func notice(issues int, files []string) string {
	what, where := "issues", files[0]
	if issues == 1 {
		what = "issue"
	}
	if len(files) > 1 {
		where = fmt.Sprintf("%d files", len(files))
	}
	return fmt.Sprintf("Found %d linting %s in %s", issues, what, where)
}

// look records the findings that a file has before the session first changes it.
func (f feedback) look(ctx context.Context, session, rel string) error {
	known, err := f.states.Get(ctx, session)
	if err != nil || known.index(rel) >= 0 {
		return err
	}
	all, linted, err := f.lint(ctx, rel)
	if err != nil || !linted {
		return err
	}
	return f.states.Update(ctx, session, func(b *baseline) bool {
		if b.index(rel) >= 0 {
			return false
		}
		b.remember(rel, all)
		return true
	})
}

// news returns the findings of a file to report.
func (f feedback) news(ctx context.Context, session, rel string) ([]finding, error) {
	all, linted, err := f.lint(ctx, rel)
	if err != nil || !linted || !f.changed || session == "" {
		return all, err
	}
	var fresh []finding
	err = f.states.Update(ctx, session, func(b *baseline) bool {
		fresh = b.fresh(rel, all)
		b.remember(rel, all)
		return true
	})
	return fresh, err
}

// show writes findings, at most as many as left, which it decreases.
func (f feedback) show(text *strings.Builder, rel string, found []finding, left *int) {
	if len(found) == 0 || text.Len() > maxText {
		return
	}
	what := "Linter findings"
	if f.changed {
		what = "New linter findings"
	}
	fmt.Fprintf(text, "%s in %s:\n", what, printable(rel))
	linter := ""
	for i, line := range found {
		if *left == 0 || text.Len()+len(line.text)+len(line.linter) > maxText {
			fmt.Fprintf(text, "… and %d more\n", len(found)-i)
			return
		}
		*left--
		if line.linter != linter {
			linter = line.linter
			fmt.Fprintf(text, "%s\n", printable(linter))
		}
		fmt.Fprintf(text, "  %s\n", line.text)
	}
}
