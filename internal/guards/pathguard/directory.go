package pathguard

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// leavesRoot returns a finding for a line that leaves a persistent shell outside the agent's
// directory. Later calls still name the agent's directory, and would be evaluated as if they ran
// there.
func (p policy) leavesRoot(ev events.Event, tool events.Tool, script shell.Script) decision.Finding {
	if tool.Class != events.ClassShell || p.root.Text == "" {
		return decision.Finding{}
	}
	outside := func(dir string) bool { return !paths.Resolve(dir, tool.Cwd).Below(p.root) }
	if script.Ends != nil && !slices.ContainsFunc(script.Ends, outside) || !isPersistent(ev, tool) {
		return decision.Finding{}
	}
	return p.whereUnclear("its shell stays outside of %s, and later calls do not say so", clip(p.root.Name()))
}

// isPersistent reports whether the shell of a call also runs later calls: one of Copilot CLI that
// the call names, or the terminal of VS Code.
func isPersistent(ev events.Event, tool events.Tool) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	if strings.EqualFold(plain.Replace(tool.Name), "runinterminal") {
		return true
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return false
	}
	input, _ := data.ToolInput()
	for name, v := range input.All() {
		if slices.Contains([]string{"sessionid", "shellid", "terminalid"}, strings.ToLower(plain.Replace(name))) && v.Kind() != 'n' {
			return true
		}
	}
	return false
}

// inRoot evaluates a line as if it ran in the agent's directory, because a model may name a
// directory that its tool ignores.
func (p policy) inRoot(w *budget, tool events.Tool) decision.Finding {
	if p.root.Text == "" || tool.Cwd == p.root.Text {
		return decision.Finding{}
	}
	all, _ := ofScript(w, shell.Parse(tool.Command, p.root.Text))
	for _, a := range all {
		if w.ended() != nil {
			break
		}
		if f := p.judge(a); f.Decision == decision.Deny {
			return p.whereUnclear("if its tool ignores the directory %s: %s", clip(tool.Cwd), f.Reason)
		}
	}
	return decision.Finding{}
}
