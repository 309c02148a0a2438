package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
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

// hooks prints what each hook did: first the one that decided, then those that have something to
// report, and others as space permits.
func (s screen) hooks(story why.Story) {
	shown := map[int]bool{}
	for _, wanted := range [...]func(why.Hook) bool{
		story.Decided,
		func(h why.Hook) bool { return !dull(h) },
		func(why.Hook) bool { return true },
	} {
		for i, h := range story.Hooks {
			if len(shown) < maxHooks && wanted(h) {
				shown[i] = true
			}
		}
	}
	s.Print("\n")
	room, column := maxDetails, 0
	for i, h := range story.Hooks {
		if id := ansi.StringWidth(term.Printable(h.ID)); shown[i] && id <= maxColumn {
			column = max(column, id)
		}
	}
	for i, h := range story.Hooks {
		if shown[i] {
			room = s.hook(h, column, story.Decided(h), room)
		}
	}
	if hidden := len(story.Hooks) - len(shown); hidden > 0 {
		s.Print("%s\n", s.Paint(term.Dim, fmt.Sprintf("  … and %d more, which --json lists", hidden)))
	}
}

// dull reports whether a hook has nothing to report.
func dull(h why.Hook) bool {
	return h.Skipped || h.Action == "continue" && !h.Changed && h.Failure == ""
}

// maxColumn is the length of the longest id with which others are aligned.
const maxColumn = 32

// hook prints a line with what the hook did at a column, and details as space permits. It returns
// the remaining space.
func (s screen) hook(h why.Hook, column int, decided bool, room int) int {
	color, did := term.Plain, h.Action
	switch {
	case h.Failure != "" && h.FailedOpen:
		color, did = term.Yellow, "failed ("+h.Failure+"), let pass"
	case h.Failure != "":
		color, did = term.Red, "failed ("+h.Failure+")"
	case h.Action == "in_vain":
		color, did = term.Dim, "answer discarded: another hook denied or added labels"
	case h.Skipped:
		color, did = term.Dim, "skipped: its match was false"
	case decided:
		color = term.Bold
	}
	if h.Shadow {
		did += ", in shadow"
	}
	id := term.Printable(h.ID)
	text := "  " + id + strings.Repeat(" ", max(column-ansi.StringWidth(id), 0)) + "  " + term.Printable(did)
	if !h.Skipped {
		text += "  " + term.Micros(h.Micros)
	}
	s.Print("%s\n", s.Paint(color, ansi.Truncate(text, width, "…")))
	lines := details(h, decided, width-4)
	for i, line := range lines {
		if room == 0 {
			break
		}
		if room--; room == 0 && i < len(lines)-1 {
			line = term.Dim.Cell(fmt.Sprintf("… %s more", term.Plural(len(lines)-i, "line")))
		}
		s.Print("%s\n", s.Paint(line.Color, ansi.Truncate("    "+line.Text, width, "…")))
	}
	return room
}

// details returns what a hook answered and changed, without what the head shows for the deciding
// hook.
func details(h why.Hook, decided bool, width int) (lines []term.Cell) {
	if h.Rule != "" && !decided {
		lines = append(lines, term.Dim.Cell(term.Printable(h.RuleText)))
	}
	if h.Policy != "" {
		lines = append(lines, term.Dim.Cell("policy "+term.Printable(h.Policy)))
	}
	if h.Error != "" {
		for _, line := range term.Wrap(term.Printable(h.Error), width) {
			lines = append(lines, term.Red.Cell(line))
		}
	}
	changes := jsonedit.DiffLines(h.Changes)
	if h.Changed && len(changes) == 0 {
		changes = []term.Cell{term.Dim.Cell("changed the data; what, is not recorded")}
	}
	return append(lines, changes...)
}
