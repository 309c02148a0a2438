package grafana

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// Explained says which alerts have no section in the runbook, and which sections no
// alert.
func Explained(rules []rulefmt.Rule, page string) (wrong []string) {
	alerts, sections := map[string]bool{}, map[string]string{}
	var title string
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, "## "); ok {
			title = strings.TrimSpace(rest)
			sections[title] = ""
			continue
		}
		sections[title] += line
	}
	for _, r := range rules {
		if r.Alert == "" {
			continue
		}
		alerts[r.Alert] = true
		text, ok := sections[r.Alert]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("the runbook has no section %q", r.Alert))
			continue
		}
		for _, part := range []string{"**What it means.**", "**How to look.**", "**What to do.**"} {
			if !strings.Contains(text, part) {
				wrong = append(wrong, fmt.Sprintf("the runbook's section %q has no part %s", r.Alert, part))
			}
		}
	}
	for title := range sections {
		if strings.HasPrefix(title, "HookRouter") && !alerts[title] {
			wrong = append(wrong, fmt.Sprintf("the runbook has a section %q, which is not an alert", title))
		}
	}
	return wrong
}

// Snippets are the lines of a page's blocks in a language.
func Snippets(page, language string) (lines []string) {
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)\n```").FindAllStringSubmatch(page, -1) {
		lines = append(lines, strings.Split(block[1], "\n")...)
	}
	return lines
}
