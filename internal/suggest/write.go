package suggest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// render writes each rule as YAML for a file, in shadow and with its tests.
func (s *suggester) render() error {
	taken := map[string]bool{}
	for _, r := range s.o.Known {
		taken[r.Name] = true
	}
	for i := range s.report.Rules {
		made := &s.report.Rules[i]
		for n := 2; taken[made.Rule.Name]; n++ {
			made.Rule.Name = fmt.Sprintf("%s (%d)", made.Rule.Command, n)
		}
		taken[made.Rule.Name] = true
		made.Text = made.render(s.report.Questions)
		if err := made.check(); err != nil {
			return fmt.Errorf("write the rule %s: %w", made.Rule.Name, err)
		}
	}
	return nil
}

// maxExamples bounds the number of commands from the log that become tests.
const maxExamples = 3

func (m *Suggestion) render(questions int) string {
	r := m.Rule
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	add("# Allowed %d times in %d sessions; would have answered %d of %d\n", m.Answers, m.Sessions, m.Saved, questions)
	add("# approval requests, and contradicted no denial.\n")
	at := strings.Index(r.Command, "*")
	if at > 0 {
		add("# The * is any such file there, also one that the agent makes or links.\n")
	}
	add("- name: %s\n  decision: %s\n", quote(r.Name), r.Decision)
	add("  mode: shadow # a person is asked still; remove this line to enforce it\n")
	add("  hook: %s\n  tool: %s\n  prompt: %s\n", quote(r.Hook), quote(r.Tool), block(r.Prompt))
	add("  command: %s\n  cwd: %s\n  labels: {none: [\"*\"]}\n", quote(r.Command), quote(r.Cwd))
	if r.Emitter != nil {
		add("  emitter: {id: %s}\n", quote(r.Emitter.ID))
	}
	add("  tests:\n")
	test := func(command, more, expect string) {
		add("    - {command: %s, %sexpect: %s}\n", quote(command), more, expect)
	}
	for i, l := range m.lines {
		if i < maxExamples {
			test(l.command, "", "allow")
		}
	}
	one := m.lines[0].command
	test(one, "labels: [secret-read], ", "ask")
	test(one, "cwd: /elsewhere, ", "ask")
	for _, behind := range []string{" --force", "; rm -rf x", " $(id)", "\nid"} {
		test(one+behind, "", "ask")
	}
	if at > 0 {
		for _, name := range []string{"../x", ".x", "*", "d/x"} {
			test(strings.Replace(r.Command, "*", name, 1), "", "ask")
		}
	}
	return b.String()
}

// check parses the text again: it must mean the same, and its tests must pass.
func (m *Suggestion) check() error {
	text := []byte("rules:\n" + m.Text)
	rules, err := approval.ParseRules("suggested", text)
	if err != nil {
		return err
	}
	if len(rules) != 1 || !reflect.DeepEqual(rules[0], m.Rule) {
		return errors.New("it would read as another one")
	}
	tests, err := approval.ParseRuleTests("suggested", text)
	if err != nil {
		return err
	}
	for _, t := range tests {
		if err := t.Check(rules); err != nil {
			return fmt.Errorf("line %d: %w", t.Line, err)
		}
	}
	return nil
}

// quote returns text quoted so that YAML reads it as a string.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}

// block returns a text of several lines as a block scalar if possible, and otherwise quoted.
func block(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line != strings.TrimSpace(line) {
			return quote(text)
		}
	}
	if !strings.Contains(text, "\n") || text != strings.TrimSpace(text) {
		return quote(text)
	}
	var b strings.Builder
	b.WriteString("|-")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("\n")
		if line != "" {
			b.WriteString("    " + line)
		}
	}
	return b.String()
}

// Parse parses a file of rules. It returns nil for a file with only comments.
func Parse(name string, file []byte) (approval.Rules, error) {
	for line := range bytes.Lines(file) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return approval.ParseRules(name, file)
		}
	}
	return nil, nil
}

// Append adds rules at the end of a file. The existing text stays byte for byte. It rejects a file
// in any form other than a list under rules with lines that begin with -, and one that would then
// mean something else.
func Append(name string, file []byte, made []Suggestion) ([]byte, error) {
	before, err := Parse(name, file)
	if err != nil {
		return nil, err
	}
	if len(file) > 0 && !bytes.HasSuffix(file, []byte("\n")) {
		file = append(bytes.Clone(file), '\n')
	}
	if before == nil {
		return grow(name, append(bytes.Clone(file), "rules:\n"...), nil, made, "  ")
	}
	for _, indent := range []string{"  ", "", "    "} {
		if text, err := grow(name, file, before, made, indent); err == nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%s: rules can't be added behind those that are there: add them by hand", name)
}

func grow(name string, file []byte, before approval.Rules, made []Suggestion, indent string) ([]byte, error) {
	text := bytes.Clone(file)
	want := slices.Clone(before)
	for _, m := range made {
		want = append(want, m.Rule)
		for line := range strings.Lines(m.Text) {
			if line != "\n" {
				text = append(text, indent...)
			}
			text = append(text, line...)
		}
	}
	after, err := approval.ParseRules(name, text)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(after, want) {
		return nil, errors.New("it reads as something else")
	}
	return text, nil
}
