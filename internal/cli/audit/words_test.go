package audit

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quotedWord = regexp.MustCompile("`([a-z_.]+)`")

// TestKindsAndActionsAreThoseOfTheManual compares the values of --kind and --action with the table
// of records in docs/audit.md.
func TestKindsAndActionsAreThoseOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	var named, acted []string
	_, table, _ := strings.Cut(string(page), "| kind | one for each |")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 {
			continue
		}
		for _, word := range quotedWord.FindAllStringSubmatch(cells[0], -1) {
			named = append(named, word[1])
		}
		for _, word := range quotedWord.FindAllStringSubmatch(cells[2], -1) {
			if !strings.Contains(word[1], ".") { // a subject is not an action
				acted = append(acted, word[1])
			}
		}
	}
	for _, kind := range kinds {
		if !slices.Contains(named, kind) {
			t.Errorf("docs/audit.md has no record of kind %s", kind)
		}
	}
	for _, kind := range named {
		if !slices.Contains(kinds, kind) {
			t.Errorf("--kind does not take %s of docs/audit.md", kind)
		}
	}
	for _, action := range actions {
		if !slices.Contains(acted, action) {
			t.Errorf("docs/audit.md has no action %s", action)
		}
	}
	for _, action := range acted {
		if !slices.Contains(actions, action) {
			t.Errorf("--action does not take %s of docs/audit.md", action)
		}
	}
}
