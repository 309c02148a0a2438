package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/suggest"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

type suggestCmd struct {
	Export string `placeholder:"FILE" help:"Read this export instead of the live log; - reads the standard input."`
	cli.Period
	Min      int    `default:"3" placeholder:"N" help:"Only what was allowed so often; of a directory, so many files; default 3."`
	Sessions int    `default:"2" placeholder:"N" help:"And in so many sessions; default 2."`
	Unproven bool   `help:"Count answers of nobody who is proven too. Ignored where the log has an identity: then an agent may have given them."`
	Write    string `type:"path" placeholder:"FILE" help:"Add the rules to this file of approval rules, in shadow."`
}

// Help describes the command.
func (c *suggestCmd) Help() string {
	return `The audit log of the last 30 days, or of --since and --last, is read for commands that people allowed again and
again. Each rule names the hook, the question, the tool, the directory, the sender and every word of the command; files
that varied within one directory become *.ending. No rule is suggested that would have allowed what a person or a hook
denied, that a session with labels needs, or that destroys, sends, reads secrets or runs code that an agent can write.

A suggested rule is in shadow: it answers nothing, and what it would answer is recorded. Run this command again to see
how often it agreed with people. What an agent asks often it may ask for a purpose: read a rule before you enforce it.

Exit codes: 0 the log was read, whatever was found; 1 error.`
}

// defaultPeriod is how far back the log is read by default.
const defaultPeriod = "30d"

// suggested is the JSON form of the suggestions.
type suggested struct {
	Since time.Time `json:"since"`
	suggest.Report
	Written string `json:"written,omitempty"` // the file that has the rules now
}

// Run suggests rules.
func (c *suggestCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Min < 2 || c.Sessions < 1 {
		return errors.New("use --min from 2 on, and --sessions from 1 on")
	}
	if c.Since == "" && c.Last == "" {
		c.Last = defaultPeriod
	}
	since, err := c.From(time.Now())
	if err != nil {
		return err
	}
	file, err := c.file()
	if err != nil {
		return err
	}
	log, err := c.log(ctx, e, since)
	if err != nil {
		return err
	}
	judge, err := suggest.NewJudge()
	if err != nil {
		return err
	}
	defer judge.Close()
	report, err := suggest.Suggest(ctx, log, judge, suggest.Options{Min: c.Min, Sessions: c.Sessions, Unproven: c.Unproven, Known: file.rules})
	if err != nil {
		return err
	}
	doc := suggested{Since: since, Report: report}
	if c.Write != "" && len(report.Rules) > 0 {
		if err := file.add(report.Rules); err != nil {
			return err
		}
		doc.Written = c.Write
	}
	if !e.Out.Document(doc) {
		doc.show(e.Out)
	}
	return nil
}

// ruleFile is the file that the rules are added to.
type ruleFile struct {
	path  string // with symbolic links resolved
	text  []byte
	mode  fs.FileMode
	rules approval.Rules
}

func (c *suggestCmd) file() (f ruleFile, err error) {
	if c.Write == "" {
		return f, nil
	}
	f.path, f.mode = c.Write, 0o600
	if path, err := filepath.EvalSymlinks(c.Write); err == nil {
		f.path = path
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		f.mode = info.Mode().Perm()
		f.text, err = cli.ReadFile(f.path, nil, approval.MaxRuleFile)
	}
	if err != nil {
		return f, fmt.Errorf("read rules: %w", err)
	}
	f.rules, err = suggest.Parse(c.Write, f.text)
	return f, err
}

func (f ruleFile) add(made []suggest.Suggestion) error {
	text, err := suggest.Append(f.path, f.text, made)
	if err == nil {
		err = atomicfile.Write(f.path, text, f.mode)
	}
	if err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	return nil
}

// log reads the approval requests in the audit log.
func (c *suggestCmd) log(ctx context.Context, e *cli.Env, since time.Time) (*suggest.Log, error) {
	var found suggest.Log
	take := func(r query.Record) error {
		if r.Err != nil {
			fmt.Fprintf(e.Stderr, "hookctl: left out: %s\n", term.Clean(r.Err.Error()))
		} else if !r.Time.Before(since) {
			found.Add(&r)
		}
		return nil
	}
	if c.Export == "" {
		l, _, err := e.AuditLog(ctx)
		if err != nil {
			return nil, err
		}
		return &found, l.Query(ctx, query.Filter{Kinds: suggest.Kinds, Since: since}, take)
	}
	in := e.Stdin
	if c.Export != "-" {
		file, err := os.Open(c.Export)
		if err != nil {
			return nil, fmt.Errorf("read the export: %w", err)
		}
		defer file.Close()
		in = file
	}
	return &found, query.ReadExport(ctx, in, take)
}

const (
	suggestColumns = 80
	maxRefused     = 10 // shown to people; JSON has all
)

// show prints the suggestions.
func (d suggested) show(p *term.Printer) {
	p.Print("%s since %s: %d answered by people\n", term.Plural(d.Questions, "approval request"), d.Since.Local().Format(time.DateOnly), d.Answered)
	for _, n := range []struct {
		n    int
		what string
	}{
		{d.Unproven, "not counted: answered by the sender, by an agent, or without a proven identity"},
		{d.Unknown, "not counted: their data is masked, or not in the log"},
		{d.Labeled, "not counted: in sessions with labels"},
		{d.Several, "not counted: they needed several people, whom no rule replaces"},
		{d.Merged, "not counted: several hooks asked at once, and a rule answers one"},
	} {
		if n.n > 0 {
			p.Print("%s\n", p.Paint(term.Dim, fmt.Sprintf("%5d %s", n.n, n.what)))
		}
	}
	if len(d.Rules) == 0 {
		p.Print("\nno rule is suggested\n")
	} else {
		p.Print("\n%s would have answered %d of %d questions; contradicts %d denials\n", p.Paint(term.Bold, term.Plural(len(d.Rules), "rule")), d.Saved, d.Questions, d.Contradicts)
		for _, r := range d.Rules {
			people := term.Printable(r.People[0])
			if n := len(r.People) - 1; n > 0 {
				people += fmt.Sprintf(" and %d more", n)
			}
			p.Print("\n%s\n", p.Paint(term.Green, term.Clip(term.Printable(r.Rule.Command), suggestColumns)))
			p.Print("%s\n", term.Clip(fmt.Sprintf("  allowed %d times in %s by %s; %d of %d questions", r.Answers, term.Plural(r.Sessions, "session"), people, r.Saved, d.Questions), suggestColumns))
		}
		d.rules(p)
	}
	if len(d.Refused) > 0 {
		p.Print("\n%s\n", p.Paint(term.Dim, "allowed often, and no rule for them"))
		for i, r := range d.Refused {
			if i == maxRefused {
				p.Print("  and %d more: --json lists them\n", len(d.Refused)-i)
				break
			}
			p.Print("%4d× %s\n      %s\n", r.Answers, term.Clip(term.Printable(r.Command), suggestColumns-7), p.Paint(term.Yellow, term.Clip(term.Printable(r.Why), suggestColumns-7)))
		}
	}
	d.shadow(p)
}

// rules prints the rules, or the file that they were added to.
func (d suggested) rules(p *term.Printer) {
	if d.Written != "" {
		p.Print("\nadded to %s, in shadow; check it with:\n  hookctl approvals rules %[1]s\n", term.Printable(d.Written))
		return
	}
	p.Print("\nrules:\n")
	for _, r := range d.Rules {
		p.Print("%s", r.Text)
	}
}

// shadow prints how the rules in shadow performed.
func (d suggested) shadow(p *term.Printer) {
	if len(d.Shadow) == 0 {
		return
	}
	p.Print("\n%s\n", p.Paint(term.Dim, "rules in shadow"))
	rows := [][]term.Cell{term.Heads("ASKED", "AGREED", "DISAGREED", "RULE")}
	for _, t := range d.Shadow {
		color := term.Green
		if t.Disagreed > 0 {
			color = term.Red
		}
		rows = append(rows, term.Row(fmt.Sprint(t.Questions), fmt.Sprint(t.Agreed), color.Cell(fmt.Sprint(t.Disagreed)), term.Clip(term.Printable(cmp.Or(t.Rule, "-")+": "+t.Decision), 50)))
	}
	p.Table(rows)
	p.Print("Enforce a rule that agrees: remove its line \"mode: shadow\", and send\nthe router SIGHUP. Remove one that disagrees.\n")
}
