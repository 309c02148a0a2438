// Package docs_test keeps the documents true: what they say is compared with a
// running router, with the code, and with the programs themselves.
package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:generate go test -run TestEventsTable|TestFlagTables|TestBuiltinTables|TestAgentPages|TestRightsOfRouters -update .

// update writes the generated tables instead of comparing them.
var update = flag.Bool("update", false, "write the generated parts of the documents")

// root is the directory of the module.
const root = ".."

// documents are all Markdown files of the project's documentation.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"../README.md", "../ARCHITECTURE.md", "../CHANGELOG.md", "../CONTRIBUTING.md", "../SECURITY.md"}
	for _, pattern := range []string{"*.md", "adr/*.md", "agents/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// generated compares, or with -update writes, the part of a document between
// <!-- begin name --> and <!-- end name -->.
func generated(t *testing.T, file, name, want string) {
	t.Helper()
	text := read(t, file)
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	head, rest, ok := strings.Cut(text, begin)
	have, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part %q", file, name)
	}
	switch {
	case have == want:
	case *update:
		if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: the part %q is out of date: run go generate ./docs", file, name)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?\n```$")
)

// anchors are the targets that the headings of a document make.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := strings.ToLower(strings.TrimSpace(m[1]))
		name = strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				return r
			}
			return -1
		}, name)
		all[name] = true
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, file := range documents(t) {
		text := fence.ReplaceAllString(read(t, file), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %s leads nowhere", file, m[1])
				continue
			}
			if anchor != "" && !anchors(read(t, path))[anchor] {
				t.Errorf("%s: the link %s leads to no heading", file, m[1])
			}
		}
	}
}

// TestTheSiteHasEveryPage: tools/site refuses a page that nobody can reach.
func TestTheSiteHasEveryPage(t *testing.T) {
	nav := read(t, "../tools/site/zensical.toml")
	for _, file := range documents(t) {
		name := filepath.ToSlash(filepath.Clean(filepath.Join("docs", file)))
		if !strings.HasPrefix(name, "docs/adr/") && !strings.Contains(nav, `"`+name+`"`) {
			t.Errorf("tools/site/zensical.toml has no %s", name)
		}
	}
}

func TestDecisionsAreShort(t *testing.T) {
	files, err := filepath.Glob("adr/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if n := strings.Count(read(t, file), "\n"); n > 40 {
			t.Errorf("%s has %d lines: at most 40 are allowed", file, n)
		}
	}
}
