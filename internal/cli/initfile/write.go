package initfile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/examples/policies"
)

// The places where the starter policy is extended. Each occurs once in it.
const (
	atDeny      = "      path-guard:\n        deny:\n"
	atDenyWrite = "        deny_write:\n"
	atDenyRun   = "        development: true\n        deny:\n"
	atAskRun    = "\n        ask:\n"
	atTests     = "\ntests:\n"
)

// policy returns the starter policy, extended for a project. The result is at least as strict,
// since only denials and questions are added.
func policy(name string, list []thing, commands []string) string {
	_, text, _ := strings.Cut(string(policies.CodingAgent), "\nhooks:\n") // drop its own heading
	base := "hooks:\n" + text
	text = base
	add := func(at string, of func(thing) []string) {
		var more strings.Builder
		for _, t := range list {
			var lines []string
			for _, p := range of(t) {
				if !strings.Contains(base, fmt.Sprintf("- %q\n", p)) {
					lines = append(lines, fmt.Sprintf("          - %q\n", p))
				}
			}
			if len(lines) > 0 {
				fmt.Fprintf(&more, "          # Found here: %s.\n%s", t.Name, strings.Join(lines, ""))
			}
		}
		if more.Len() > 0 {
			text = strings.Replace(text, at, at+more.String()+"          # For every project.\n", 1)
		}
	}
	add(atDeny, func(t thing) []string { return t.deny })
	add(atDenyWrite, func(t thing) []string { return t.denyWrite })
	add(atDenyRun, func(t thing) []string { return t.denyRun })
	add(atAskRun, func(t thing) []string { return t.askRun })
	own := fmt.Sprintf("          # This file: an agent does not write its own rules.\n          - %q\n", "**/"+name)
	text = strings.Replace(text, atDenyWrite, atDenyWrite+own, 1)
	text = strings.Replace(text, atAskRun, allowed(commands)+atAskRun, 1)
	return heading(list) + strings.Replace(text, atTests, atTests+tests(name, list), 1)
}

// names lists the things that were found.
func names(list []thing) string {
	var all []string
	for _, t := range list {
		all = append(all, t.Name)
	}
	return cmp.Or(strings.Join(all, ", "), "nothing it knows")
}

func heading(list []thing) string {
	return "# Made by `hookctl init`, which found in this project: " + names(list) + ".\n" +
		"# It is the starter policy for coding agents with what belongs to this project; make it yours.\n" +
		"# Everyday development passes, what reaches further is asked about, and what destroys,\n" +
		"# reads secrets or touches the guards themselves is denied. The tests at the end hold it to that.\n"
}

// allowed returns commands that a person may allow. They are comments, because an agent can write
// the files that name them.
func allowed(commands []string) string {
	if len(commands) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n        # What a target runs is not seen. Those that are asked about may be allowed here,\n        # once you have read them:\n        # allow:")
	for _, c := range commands {
		fmt.Fprintf(&b, "\n        #   - %q", c)
	}
	return b.String()
}

func tests(name string, list []thing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: nobody but a person writes this file\n    event: tool:pre\n    data: {tool_name: Write, cwd: /repo, tool_input: {file_path: %q, content: x}}\n    expect: {action: deny, by: path-guard}\n", "/repo/"+name)
	for _, t := range list {
		if t.test != "" {
			fmt.Fprintf(&b, "  - name: %q\n    event: tool:pre\n    data: {tool_name: Bash, cwd: /repo, tool_input: {command: %q}}\n    expect: {action: %s, by: command-guard}\n", t.Name+" is guarded", t.test, t.action)
		}
	}
	return b.String()
}
