package approvals

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

type rulesCmd struct {
	File   string `arg:"" help:"File of rules, YAML or JSON; - reads the standard input."`
	Hook   string `placeholder:"NAME" help:"Decide an approval request of this hook."`
	Tool   string `placeholder:"NAME" help:"Tool of the request."`
	Prompt string `placeholder:"TEXT" help:"Prompt of the request."`

	Label   []string `placeholder:"NAME" help:"Label of its session; repeat the flag for more."`
	Emitter string   `placeholder:"ID" help:"Proven identity of its sender, such as \"nats agent/coder\"."`
	Role    string   `placeholder:"ROLE" help:"Role of its sender."`
	Root    string   `placeholder:"SESSION" help:"Root session of its lineage."`
	Depth   int      `placeholder:"N" help:"Number of sessions above its own."`
	Command string   `placeholder:"LINE" help:"Plain shell command that it is about."`
	Cwd     string   `placeholder:"DIR" help:"Directory where the command runs."`
}

// ruled is the JSON form of what the rules decide.
type ruled struct {
	Rules    approval.Rules `json:"rules"`
	Decision string         `json:"decision,omitempty"` // allow, deny, or ask where no rule matches
	By       *approval.Rule `json:"by,omitempty"`
	Shadow   *approval.Rule `json:"shadow,omitempty"` // that would decide
	Tests    int            `json:"tests,omitempty"`  // that are in the file
	Failed   []string       `json:"failed,omitempty"` // of them, and why
}

// Help describes the command.
func (c *rulesCmd) Help() string {
	return `The tests that stand in the rules run too, as if no rule were in shadow.

Exit codes: 0 the file is right; 1 it has errors, or a test of it fails.`
}

// Run checks the file.
func (c *rulesCmd) Run(e *cli.Env) error {
	rules, tests, err := c.read(e.Stdin)
	if err != nil {
		return err
	}
	doc := ruled{Rules: rules, Tests: len(tests)}
	for _, t := range tests {
		if err := t.Check(rules); err != nil {
			doc.Failed = append(doc.Failed, fmt.Sprintf("%s:%d: %s: %v", c.File, t.Line, rules[t.Rule].Name, err))
		}
	}
	if len(doc.Failed) > 0 {
		e.Exit = cli.ExitLocal
	}
	if c.Hook+c.Tool+c.Prompt != "" {
		doc.Decision = "ask"
		if rule, found := rules.Match(c.facts()); found {
			doc.Decision, doc.By = rule.Decision, &rule
		}
		if rule, found := rules.Shadow(c.facts()); found {
			doc.Shadow = &rule
		}
	}
	if !e.Out.Document(doc) {
		doc.show(e.Out)
	}
	return nil
}

func (doc ruled) show(out *term.Printer) {
	rows := [][]term.Cell{term.Heads("RULE", "DECISION", "HOOK", "TOOL", "PROMPT")}
	where := slices.ContainsFunc(doc.Rules, func(r approval.Rule) bool { return r.Conditions() != "" })
	if where {
		rows[0] = term.Heads("RULE", "DECISION", "HOOK", "TOOL", "PROMPT", "WHERE")
	}
	for _, r := range doc.Rules {
		row := term.Row(term.Cyan.Cell(term.Printable(r.Name)), decisionColor(r.Decision).Cell(strings.TrimSpace(r.Decision+" "+r.Mode)), term.Printable(cmp.Or(r.Hook, "*")), term.Printable(cmp.Or(r.Tool, "*")), term.Clip(term.OneLine(cmp.Or(r.Prompt, "*")), term.MaxValue))
		if where {
			row = append(row, term.Row(term.Clip(term.Printable(r.Conditions()), term.MaxValue))...)
		}
		rows = append(rows, row)
	}
	out.Table(rows)
	for _, why := range doc.Failed {
		out.Print("%s\n", out.Paint(term.Red, term.Printable(why)))
	}
	if doc.Tests > 0 {
		out.Print("\n%s, %d failed\n", term.Plural(doc.Tests, "test"), len(doc.Failed))
	}
	switch {
	case doc.By != nil:
		out.Print("\n%s by %s\n", out.Paint(decisionColor(doc.Decision), doc.Decision), term.Printable(doc.By.Name))
	case doc.Shadow != nil:
		out.Print("\na person is asked; in shadow, %s would %s\n", term.Printable(doc.Shadow.Name), doc.Shadow.Decision)
	case doc.Decision != "":
		out.Print("\nno rule matches: a person is asked\n")
	}
}

func (c *rulesCmd) facts() approval.Facts {
	return approval.Facts{Hook: c.Hook, Tool: c.Tool, Prompt: c.Prompt, Labels: c.Label, Emitter: c.Emitter, Role: c.Role, Root: c.Root, Depth: c.Depth, Command: c.Command, Cwd: c.Cwd}
}

func (c *rulesCmd) read(stdin io.Reader) (approval.Rules, []approval.RuleTest, error) {
	text, err := cli.ReadFile(c.File, stdin, approval.MaxRuleFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read rules: %w", err)
	}
	name := c.File
	if name == "-" {
		name = "standard input"
	}
	rules, err := approval.ParseRules(name, text)
	if err != nil {
		return nil, nil, err
	}
	tests, err := approval.ParseRuleTests(name, text)
	return rules, tests, err
}

func decisionColor(decision string) term.Color {
	if decision == approval.DefaultAllow {
		return term.Green
	}
	return term.Red
}
