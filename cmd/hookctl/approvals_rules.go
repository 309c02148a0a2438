package main

import (
	"fmt"
	"io"
	"os"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

type approvalsRulesCmd struct {
	File   string `arg:"" help:"File of rules, YAML or JSON; - reads the standard input."`
	Hook   string `placeholder:"NAME" help:"Decide a question of this hook."`
	Tool   string `placeholder:"NAME" help:"About this tool."`
	Prompt string `placeholder:"TEXT" help:"With this prompt."`
}

// ruled is the JSON form of what rules decide.
type ruled struct {
	Rules    approval.Rules `json:"rules"`
	Decision string         `json:"decision,omitempty"` // allow, deny, or ask where no rule matches
	By       *approval.Rule `json:"by,omitempty"`
}

// Run checks the file.
func (c *approvalsRulesCmd) Run(e *env) error {
	rules, err := c.read(e.stdin)
	if err != nil {
		return err
	}
	doc := ruled{Rules: rules}
	if c.Hook+c.Tool+c.Prompt != "" {
		doc.Decision = "ask"
		if rule, found := rules.Decide(c.Hook, c.Tool, c.Prompt); found {
			doc.Decision, doc.By = rule.Decision, &rule
		}
	}
	if e.out.json {
		e.out.document(doc)
		return nil
	}
	rows := [][]cell{heads("RULE", "DECISION", "HOOK", "TOOL", "PROMPT")}
	for _, r := range rules {
		rows = append(rows, []cell{
			{printable(r.Name), cyan},
			{r.Decision, decisionColor(r.Decision)},
			{orAny(r.Hook), plain},
			{orAny(r.Tool), plain},
			{clip(orAny(r.Prompt), maxValue), plain},
		})
	}
	e.out.table(rows)
	switch {
	case doc.By != nil:
		e.out.print("\n%s by %s\n", e.out.paint(decisionColor(doc.Decision), doc.Decision), printable(doc.By.Name))
	case doc.Decision != "":
		e.out.print("\nno rule matches: a person is asked\n")
	}
	return nil
}

func (c *approvalsRulesCmd) read(stdin io.Reader) (approval.Rules, error) {
	name := c.File
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		defer f.Close()
		stdin = f
	}
	text, err := io.ReadAll(io.LimitReader(stdin, approval.MaxRuleFile+1))
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	return approval.ParseRules(name, text)
}

func decisionColor(decision string) string {
	if decision == approval.DefaultAllow {
		return green
	}
	return red
}

func orAny(glob string) string {
	if glob == "" {
		return "*"
	}
	return printable(glob)
}
