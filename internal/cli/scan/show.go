package scan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// columns is the width of the output.
const columns = 80

// shown is how many reasons of each kind are printed.
const shown = 8

// show prints the report.
func (r *report) show(p *term.Printer) {
	p.Print("%s\n", p.Paint(term.Dim, term.Clip(r.what(), columns)))
	if r.Calls == 0 {
		p.Print("\nNo tool was called in %s.\n", term.Plural(r.Files, "transcript"))
	} else {
		p.Print("%s\n\n", p.Paint(term.Dim, term.Clip("policy: "+term.Clean(r.Policy), columns)))
		for _, n := range []struct {
			count int
			color term.Color
			what  string
		}{
			{r.Calls, term.Plain, "tool calls"},
			{r.Denied, term.Red, "would have been denied"},
			{r.Asked, term.Yellow, "would have been asked about: " + r.perDay()},
			{r.Changed, term.Cyan, "prompts, calls and results would have been changed"},
			{r.Passed, term.Green, "calls would have passed"},
		} {
			p.Print("%s  %s\n", p.Paint(n.color, fmt.Sprintf("%7d", n.count)), n.what)
		}
	}
	r.section(p, "Denied", chain.Deny, term.Red)
	r.section(p, "Asked about", chain.AskUser, term.Yellow)
	r.section(p, "Changed", chain.Modify, term.Cyan)
	p.Print("\n")
	for _, remark := range r.remarks() {
		p.Print("%s\n", p.Paint(term.Dim, remark))
	}
}

// what describes what was scanned.
func (r *report) what() string {
	var of []string
	for _, agent := range slices.Sorted(maps.Keys(r.Sessions)) {
		of = append(of, fmt.Sprintf("%s of %s", term.Plural(r.Sessions[agent], "session"), agent))
	}
	text := strings.Join(of, ", ")
	if r.From != nil {
		text += ", " + r.From.Local().Format(time.DateOnly) + " to " + r.To.Local().Format(time.DateOnly)
	}
	return text
}

func (r *report) perDay() string {
	return fmt.Sprintf("%.1f a day, at most %d", r.QuestionsPerDay, r.MostInADay)
}

// section prints the most frequent reasons for an action, each with an example.
func (r *report) section(p *term.Printer, head string, action chain.Action, color term.Color) {
	var all []*finding
	for _, f := range r.Findings {
		if f.Action == action {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return
	}
	p.Print("\n%s\n", p.Paint(color, head))
	for _, f := range all[:min(len(all), shown)] {
		p.Print("%s %s\n", p.Paint(color, fmt.Sprintf("%5d", f.Count)), term.Clip(term.Clean(f.Hook+": "+f.Reason), columns-6))
		if example := strings.TrimSpace(f.Tool + "  " + term.Clean(f.Example)); example != "" {
			p.Print("      %s\n", p.Paint(term.Dim, term.Clip(term.Clean(example), columns-6)))
		}
	}
	if more := len(all) - shown; more > 0 {
		p.Print("      and for %s more; --json shows all\n", term.Plural(more, "reason"))
	}
}

// remarks lists what was left out.
func (r *report) remarks() (all []string) {
	for _, n := range []struct {
		count int
		thing string
		what  string
	}{
		{r.Skipped, "line", "could not be read and was skipped"},
		{r.Unreadable, "file", "could not be opened or read to its end"},
		{r.Undecided, "event", "could not be decided: a hook may not be called here, or failed"},
	} {
		if n.count > 0 {
			what := n.what
			if n.count > 1 {
				what = strings.Replace(what, " was ", " were ", 1)
			}
			all = append(all, term.Plural(n.count, n.thing)+" "+what)
		}
	}
	return append(all, "Nothing was changed or sent. Secrets are masked; --json shows all reasons.")
}
