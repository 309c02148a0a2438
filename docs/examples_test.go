package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
)

const specification = "../examples/policies/specification.yaml"

var (
	hookID = regexp.MustCompile("`([a-z0-9-]+)`")
	target = regexp.MustCompile(`\]\(([^)#]+)(?:#([^)]+))?\)`)
)

// TestExamplesTable compares examples.md with the worker file and the programs that it
// names. The tests of the worker file run in examples/policies, those of the programs
// beside them, or here.
func TestExamplesTable(t *testing.T) {
	t.Parallel()
	file, err := workerfile.Load(specification, kinds.All(kind.Worker{Dir: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	missing := map[string]bool{} // the hooks of the worker file that no row names yet
	for _, h := range file.Hooks {
		missing[h.Registration.ID] = true
	}
	_, table, _ := strings.Cut(read(t, "examples.md"), "|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "<!-- end examples -->")
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		if len(cells) != 4 {
			t.Fatalf("%q has %d cells; want 4", row, len(cells))
		}
		for _, id := range hookID.FindAllStringSubmatch(cells[0], -1) {
			checkExample(t, id[1], cells[3], missing)
		}
	}
	for id := range missing {
		t.Errorf("%s is in %s and not in the table", id, specification)
	}
}

// checkExample checks that a hook is where its row says, or else in the worker file.
func checkExample(t *testing.T, id, where string, inFile map[string]bool) {
	t.Helper()
	found := inFile[id]
	delete(inFile, id)
	for _, link := range target.FindAllStringSubmatch(where, -1) {
		path, heading := link[1], link[2]
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		switch {
		case filepath.Base(path) == "main.go":
			found = strings.Contains(read(t, path), `"`+id+`"`)
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "main_test.go")); err != nil && !slices.Contains(tutored, strings.TrimPrefix(filepath.Dir(path), "../")) {
				t.Errorf("%s has no test: %v", id, err)
			}
		case !strings.Contains(read(t, path), "\n## "+heading+"\n"):
			t.Errorf("%s: %s has no heading %q", id, path, heading)
		}
	}
	if !found {
		t.Errorf("%s is not where its row says: %s", id, where)
	}
}
