package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/why"
)

// The limits of the screen.
const (
	width       = 80
	head        = 9 // the column in which values begin
	maxHooks    = 5
	maxDetails  = 7 // lines about the answers and changes of hooks
	maxTextRows = 3
)

// screen prints lines that fit the width.
type screen struct {
	*term.Printer
}

// row prints a row of the table: a name, and up to most lines of text.
func (s screen) row(name, text string, color term.Color, most int) {
	if text == "" {
		return
	}
	lines := wrapped(term.OneLine(text), width-head, most)
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		s.Print("%s%s\n", s.Paint(term.Dim, fmt.Sprintf("%-*s", head, name)), s.Paint(color, line))
	}
}

// wrapped returns a text in at most most lines of a width. If the text is cut, the last one ends in
// …
func wrapped(text string, width, most int) []string {
	lines := term.Wrap(text, width)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = ansi.Truncate(lines[most-1]+" …", width, "…")
	}
	return lines
}

// show prints the screen.
func show(p *term.Printer, story why.Story) {
	s := screen{p}
	verdict := strings.ToUpper(story.Verdict)
	color := colors[story.Verdict]
	what := story.Event
	if story.Tool != "" {
		what += "  " + story.Tool
	}
	s.Print("%s  %s\n", s.Paint(term.Bold+";"+color, verdict), s.Paint(term.Bold, ansi.Truncate(term.Printable(what), width-len(verdict)-2, "…")))
	s.row("about", story.Subject, term.Bold, maxTextRows)
	s.deciders(story)
	s.row("reason", story.Reason, term.Plain, maxTextRows)
	for _, a := range story.Approval {
		s.approval(a)
	}
	s.row("when", fmt.Sprintf("%s, took %s", story.Time, term.Micros(story.Micros)), term.Plain, 1)
	s.row("agent", who(story), term.Plain, 1)
	s.row("session", story.Session, term.Plain, 1)
	if story.Root != "" {
		s.row("tree", fmt.Sprintf("%d below session %s", story.Depth, story.Root), term.Plain, 1)
	}
	if len(story.Labels) > 0 {
		s.row("labels", strings.Join(story.Labels, ", "), term.Yellow, 2)
		s.added(story)
	}
	s.row("removed", strings.Join(story.Unlabeled, ", "), term.Yellow, 2)
	if len(story.Relabeled) > 0 {
		s.row("kept", strings.Join(story.Relabeled, ", ")+": earned again after the question", term.Yellow, 2)
	}
	s.row("event", story.EventID, term.Plain, 1)
	s.row("chain", story.ChainID+"  at "+story.Place+" of "+story.Stream, term.Plain, 2)
	s.hooks(story)
	if n := len(story.Others); n > 0 {
		more := ""
		if story.More {
			more = " and more"
		}
		s.row("also", fmt.Sprintf("%s%s of this %s; --json lists them", term.Plural(n, "chain"), more, story.Kind), term.Yellow, 1)
	}
	for i, command := range story.Next {
		name := "next"
		if i > 0 {
			name = ""
		}
		s.Print("%s%s\n", s.Paint(term.Dim, fmt.Sprintf("%-*s", head, name)), s.Paint(term.Green, command)) // not cut, since people type it
	}
}

// approval prints an approval request and its answers.
func (s screen) approval(a why.Approval) {
	if a.Decided == "" {
		s.row("asked", "not answered yet: "+a.Prompt, term.Plain, maxTextRows)
	} else {
		s.row("answer", answer(a), term.Plain, maxTextRows)
	}
	for _, review := range a.Reviews {
		s.row("", review, term.Plain, 1)
	}
	if len(a.Revealed) > 0 {
		s.row("revealed", "its secrets, to "+strings.Join(a.Revealed, ", "), term.Yellow, 2)
	}
	if a.ShadowRule != "" {
		s.row("shadow", "rule "+a.ShadowRule+" would "+a.ShadowDecision, term.Yellow, 2)
	}
}

// deciders prints the hooks that decided, or asked, and their rules.
func (s screen) deciders(story why.Story) {
	if len(story.Askers) == 0 {
		s.row("hook", story.Hook, term.Cyan, 1)
		if story.Rule == "" && answered(story) {
			s.row("rule", "its worker names none", term.Dim, 1)
		}
		s.row("rule", story.RuleText, term.Cyan, 2)
		return
	}
	s.row("hooks", strings.Join(story.Askers, ", "), term.Cyan, 2)
	name := "rules"
	for _, id := range story.Askers[:min(len(story.Askers), maxHooks)] {
		i := slices.IndexFunc(story.Hooks, func(h why.Hook) bool { return h.ID == id && story.Decided(h) })
		if i >= 0 && story.Hooks[i].Rule != "" {
			s.row(name, story.Hooks[i].RuleText, term.Cyan, 2)
			name = ""
		}
	}
}

// answered reports whether a worker answered for the hook that decided.
func answered(story why.Story) bool {
	return slices.ContainsFunc(story.Hooks, func(h why.Hook) bool { return h.ID == story.Hook && !h.Shadow && !h.Skipped && h.Failure == "" })
}

// added prints which hooks gave the session labels.
func (s screen) added(story why.Story) {
	for _, h := range story.Hooks {
		if len(h.Labels) > 0 && !h.Shadow {
			s.row("", strings.Join(h.Labels, ", ")+" by "+h.ID, term.Plain, 1)
		}
	}
}

var colors = map[string]term.Color{
	why.Allowed: term.Green, why.Denied: term.Red, why.Refused: term.Red, why.Waiting: term.Yellow,
}

func who(s why.Story) string {
	if s.Emitter != "" && s.Emitter != s.Agent {
		return s.Emitter + ", as " + term.Agent(s.Agent)
	}
	return term.Agent(s.Agent)
}

// answer describes the answer to an approval request, and who gave it.
func answer(a why.Approval) string {
	text := "denied"
	if a.Granted {
		text = "granted"
	}
	waited := term.Waited(time.Duration(a.Waited) * time.Millisecond)
	switch {
	case a.TimedOut && a.Waited > 0:
		return text + ": nobody answered within " + waited
	case a.TimedOut:
		return text + ": nobody answered in time"
	}
	if a.Option != "" {
		text += fmt.Sprintf(" (%q)", a.Option)
	}
	if a.Holds != "" {
		text += " " + a.Holds
	}
	text += " by " + a.DecidedBy
	if a.ClaimedBy != "" {
		text += ", who claims to be " + a.ClaimedBy
	}
	if a.Waited > 0 {
		text += ", after " + waited
	}
	return text
}
