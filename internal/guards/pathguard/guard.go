package pathguard

import (
	"context"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Builtin is the builtin path-guard.
var Builtin = builtin.Of("Keeps agents from reading secrets, and from writing settings and system files.",
	chain.Registration{Events: []string{events.ToolPre}, Priority: 5, OnFailure: chain.FailClosed, Effect: chain.Validates, ReplaySafe: true}, New)

// New creates the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	p, err := compile(o)
	if err != nil {
		return kind.Hook{}, err
	}
	return kind.Hook{Handler: func(ctx context.Context, ev events.Event) (chain.Result, error) {
		w := newBudget(ctx)
		result := decision.OfEvent(ev, func(tool events.Tool) chain.Result { return p.result(w, ev, tool) })
		return result, ctx.Err()
	}}, nil
}

// access is a path, and what is done to it.
type access struct {
	path  paths.Path
	reads bool
	// If unsure is true, it is unknown whether the path is written.
	writes, unsure bool
	// below: everything below the path is accessed too. glob: the path is a pattern.
	below, glob bool
	// fills: if the path is a directory, the effect on its files is unknown. It implies below for a
	// directory of settings.
	fills bool
	// pours: files with unknown names replace those in the directory.
	pours bool
	// key: the program creates a new key in this file.
	key bool
	// deep: the file may also be in a directory below its parent.
	deep bool
}

// result evaluates a tool call within the budget.
func (p policy) result(w *budget, ev events.Event, tool events.Tool) chain.Result {
	p.root = paths.Resolve(decision.Root(ev), "")
	more, whole := searched(tool, ev) // files that it accesses in addition to its paths
	tool.Partial = tool.Partial || !whole
	worst := decision.Finding{Decision: decision.Allow}
	note := func(f decision.Finding) { worst = worst.Graver(f) }
	ofFiles := p
	if p.root.Text == "" { // tools often use absolute paths
		ofFiles.outside = decision.Allow
	}
	for _, file := range pathsOf(tool) {
		if a := ofTool(tool, file); w.take(a) {
			note(ofFiles.judge(a))
		}
	}
	within, all := nested(tool, ev)
	for _, a := range append(more, within...) {
		if w.take(a) {
			note(p.judge(a))
		}
	}
	w.spent = w.spent || !all
	if tool.Command != "" {
		script := shell.Parse(tool.Command, tool.Cwd)
		note(p.leavesRoot(ev, tool, script))
		all, unclear := ofScript(w, script)
		for _, a := range all {
			if w.ended() != nil {
				break
			}
			note(p.judge(a))
		}
		for _, why := range unclear {
			note(p.whereUnclear("%s", why))
		}
		note(p.inRoot(w, tool))
	}
	if w.spent {
		note(decision.Finding{Decision: decision.Ask, Reason: "it names more files than are judged in one call: make several of it", Rule: decision.BuiltIn("files of one call")})
	}
	if tool.Unread() {
		note(p.whereUnclear("which tool is called can't be read"))
	}
	if tool.Partial && tool.Class == events.ClassFile {
		note(p.whereUnclear("the tool's input names files in a way that can't be read"))
	}
	switch worst.Decision {
	case decision.Deny:
		return chain.Result{Action: chain.Deny, Reason: worst.Reason, Rule: worst.Rule}
	case decision.Ask:
		line, _ := decision.Question(tool)
		question := line + "\n\nAsked because: " + worst.Reason
		return chain.Result{Action: chain.AskUser, ApprovalPrompt: question, ApprovalTimeout: p.timeout, Reason: worst.Reason, Rule: worst.Rule}
	}
	return chain.Result{}
}

// pathsOf returns the paths of a tool. Some agents strip a leading @, with which people refer to
// files in prompts, and some take ~ and file: as the name of a directory.
func pathsOf(tool events.Tool) []string {
	all := tool.Paths
	for _, file := range tool.Paths {
		if bare, found := strings.CutPrefix(file, "@"); found {
			all = append(slices.Clip(all), bare)
		}
		if strings.HasPrefix(file, "~") || paths.IsURL(file) {
			all = append(slices.Clip(all), "./"+file)
		}
	}
	return all
}

// ofTool returns what a tool does to one of its paths. For an unknown tool, it is unsure whether
// the path is written.
func ofTool(tool events.Tool, file string) access {
	a := access{path: paths.Resolve(file, tool.Cwd), reads: true, below: tool.Operation == events.OperationSearch || tool.Operation == events.OperationDelete || tool.Operation == events.OperationMove}
	switch tool.Operation {
	case events.OperationRead, events.OperationList, events.OperationSearch:
	case events.OperationWrite, events.OperationEdit, events.OperationDelete, events.OperationMove:
		a.writes = true
	default:
		a.unsure = true
	}
	// A file search may receive its pattern as a path.
	a.glob = tool.Class == events.ClassFile && !a.writes && strings.ContainsAny(file, "*?[{")
	return a
}
