package pathguard

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/shorten"
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

// judge evaluates one access.
func (p policy) judge(a access) decision.Finding {
	if pattern, rule, found := a.among("deny", p.deny); found {
		return denied(a, "touch", pattern, rule)
	}
	if pattern, rule, found := a.among("deny_write", p.denyWrite); found && a.writes {
		return denied(a, "write", pattern, rule)
	} else if found && a.unsure {
		return p.unsure(a, pattern, rule)
	}
	if !a.glob && !a.below && slices.ContainsFunc(p.allow, a.path.Is) {
		return decision.Finding{Decision: decision.Allow}
	}
	if pattern, rule, found := a.among("", p.secrets); found && !slices.ContainsFunc(notSecret(), a.path.Is) && !a.isPublic() && !p.isNewKey(a) {
		return denied(a, "touch", pattern, rule)
	}
	if p.secrets != nil && holdsCredentials(a.path) && !a.isPublic() {
		return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("This guard doesn't let an agent touch %s: by its name it keeps an account", clip(a.path.Name())), Rule: decision.BuiltIn("files of accounts")}
	}
	if pattern, rule, found := a.among("", p.settings); found && !slices.ContainsFunc(scratch(), a.path.Is) {
		switch {
		case a.writes:
			return denied(a, "write", pattern, rule)
		case a.unsure:
			return p.unsure(a, pattern, rule)
		}
	}
	if a.path.Unclear {
		return p.whereUnclear("where %s is can't be known", clip(a.path.Text))
	}
	if f := p.partly(a); f.Decision != "" {
		return f
	}
	if a.pours && p.outside != decision.Allow && p.root.Text != "" && p.root.Below(a.path) {
		return decision.Finding{Decision: p.outside, Reason: fmt.Sprintf("files whose names nobody knows replace those of %s", clip(a.path.Name())), Rule: decision.Option("outside")}
	}
	return p.within(a)
}

// partly finds protected files below a path, or among the matches of a glob.
func (p policy) partly(a access) decision.Finding {
	own, builtIn := p.deny, p.secrets
	if a.writes || a.unsure {
		own, builtIn = slices.Concat(own, p.denyWrite), slices.Concat(builtIn, p.settings)
	}
	for i, pattern := range slices.Concat(own, builtIn) {
		switch {
		case (a.below || a.fills && a.path.KeepsSettings()) && (a.path.Holds(pattern) || a.glob && a.path.GlobHolds(pattern) && (i < len(p.deny) || !a.sweeps(pattern))):
			return p.whereUnclear("%s holds what must not be touched: %s", clip(a.path.Name()), pattern)
		case (a.glob && a.path.Globbed(pattern) || a.deep && a.path.Named(pattern)) && (i < len(p.deny) || !a.sweeps(pattern)):
			return p.whereUnclear("%s may be what must not be touched: %s", clip(a.path.Name()), pattern)
		}
	}
	return decision.Finding{}
}

// sweeps reports whether a path is a glob such as dir/* or *.json and the pattern is a single name
// in any directory. Asking about every such glob because of a built-in pattern of this form would
// be too much. A glob with the extension of the pattern is still asked about: *.tfstate may match
// **/*.tfstate. For find -name '*.json', the glob .*.json is also among the accesses.
func (a access) sweeps(pattern paths.Pattern) bool {
	name, anywhere := strings.CutPrefix(strings.TrimSuffix(pattern.String(), "/**"), "**/")
	if anywhere && a.strays(pattern) {
		return true
	}
	base := path.Base(a.path.Text)
	if slices.Contains(secretEnds, path.Ext(base)) && strings.HasSuffix(strings.TrimSuffix(pattern.String(), "/**"), path.Ext(base)) {
		return false
	}
	if end := base[strings.LastIndexAny(base, "*?]}")+1:]; strings.HasPrefix(name, "*") && paths.Resolve("/x"+end, "").MayBe(pattern) {
		return false
	}
	return anywhere && (a.deep || !strings.Contains(name, "/")) && (strings.HasPrefix(base, "*") || strings.HasPrefix(base, ".*.") || strings.HasPrefix(name, "*"))
}

// strays reports whether only a * connects a path to a pattern of names in any directory:
// packages/*/src could include a directory of any name.
func (a access) strays(pattern paths.Pattern) bool {
	names := strings.Split(a.path.Name(), "/")
	wild := func(name string) bool { return name == "*" || name == "**" }
	at := slices.IndexFunc(names, wild)
	if at < 0 || a.deep && a.path.Named(pattern) || paths.Resolve(strings.Join(names[:at], "/"), "").Holds(pattern) {
		return false
	}
	for i, name := range names[at:] {
		switch {
		case wild(name):
			names[at+i] = "-"
		case strings.Contains(pattern.String(), name):
			return false
		}
	}
	fixed := paths.Resolve(strings.Join(names, "/"), "")
	return !fixed.Globbed(pattern) && !fixed.GlobHolds(pattern)
}

// secretEnds are extensions that mostly secrets have.
var secretEnds = strings.Fields(".env .pem .key .p12 .pfx .jks .keystore .kdbx .ppk")

// within checks an access against only and only_write, and against the agent's directory.
func (p policy) within(a access) decision.Finding {
	if len(p.only) > 0 && !slices.ContainsFunc(p.only, a.path.Is) {
		return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("%s is outside of what this guard lets an agent touch", clip(a.path.Name())), Rule: decision.Option("only")}
	}
	if len(p.onlyWrite) > 0 && !slices.ContainsFunc(p.onlyWrite, a.path.Is) && !slices.ContainsFunc(scratch(), a.path.Is) {
		switch {
		case a.writes:
			return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("%s is outside of what this guard lets an agent write", clip(a.path.Name())), Rule: decision.Option("only_write")}
		case a.unsure && len(p.only) == 0:
			return p.whereUnclear("%s may be written, and is outside of what this guard lets an agent write", clip(a.path.Name()))
		}
	}
	if p.outside != decision.Allow && a.writes && !a.path.Below(p.root) && !slices.ContainsFunc(everybodys(), a.path.Is) {
		return decision.Finding{Decision: p.outside, Reason: fmt.Sprintf("%s is outside of the directory where the agent works", clip(a.path.Name())), Rule: decision.Option("outside")}
	}
	return decision.Finding{Decision: decision.Allow}
}

// among returns the first pattern in the list of an option that a path may match, and its rule. An
// empty option means the built-in list.
func (a access) among(option string, list []paths.Pattern) (pattern paths.Pattern, rule string, found bool) {
	i := slices.IndexFunc(list, a.path.MayBe)
	switch {
	case i < 0:
		return paths.Pattern{}, "", false
	case option == "":
		return list[i], decision.BuiltIn(list[i].String()), true
	}
	return list[i], decision.Listed(option, i, list[i]), true
}

func denied(a access, verb string, pattern paths.Pattern, rule string) decision.Finding {
	return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("This guard doesn't let an agent %s %s (%s)", verb, clip(a.path.Name()), pattern), Rule: rule}
}

func (p policy) unsure(a access, pattern paths.Pattern, rule string) decision.Finding {
	return decision.Finding{Decision: p.unclear, Reason: fmt.Sprintf("%s must not be written (%s), and whether it would be is not known", clip(a.path.Name()), pattern), Rule: rule}
}

// whereUnclear returns a finding with the decision of the option unclear.
func (p policy) whereUnclear(format string, args ...any) decision.Finding {
	return decision.Finding{Decision: p.unclear, Reason: fmt.Sprintf(format, args...), Rule: decision.Option("unclear")}
}

// clip shortens a text to one line and replaces control characters.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\ufffd'
		}
		return r
	}, text)
	return shorten.Runes(text, 200, "…")
}
