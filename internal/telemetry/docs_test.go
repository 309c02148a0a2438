package telemetry_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

const page = "../../docs/telemetry.md"

// everything makes each metric that there is.
func everything(t *testing.T) string {
	t.Helper()
	shown := start(t, telemetry.Options{Spans: &spans{}})
	stop, err := shown.Watch(func() telemetry.State { return telemetry.State{AuditMode: "strict"} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	c := three()
	c.Outcome.Calls[0].Failure, c.Outcome.Calls[0].FailedOpen = chain.FailedTimeout, true
	c.Outcome.Skipped = []*chain.Entry{{Registration: chain.Registration{ID: "x"}}}
	c.Outcome.InVain = []chain.Call{{Entry: c.Outcome.Skipped[0]}}
	c.Injected, c.Dropped = []verdict.Injected{{HookID: "x"}}, []verdict.Injected{{HookID: "x"}}
	shown.Metrics.Chain(t.Context(), c)
	shown.Metrics.Refused("emit", 429)
	shown.Metrics.Wrote(3)
	shown.Metrics.Registry("registered", "x")
	shown.Metrics.Unawaited("x", "", false)
	shown.Metrics.UnawaitedDropped("x")
	shown.Metrics.Decided(telemetry.ByPerson, true)
	shown.WorkerFile().Read(t.Context(), true)
	return scrape(t, shown, false)
}

var (
	helpLine = regexp.MustCompile(`(?m)^# HELP (\w+) (.*)$`)
	typeLine = regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`)
	dataLine = regexp.MustCompile(`(?m)^(\w+?)(?:_bucket|_sum|_count)?\{([^}]*)\}`)
	label    = regexp.MustCompile(`(\w+)="`)
)

// TestMetricsTable keeps the tables of metrics what is shown. With
// HOOKROUTER_WRITE_DOCS set it writes them.
func TestMetricsTable(t *testing.T) {
	text := everything(t)
	kinds, labels := map[string]string{}, map[string][]string{}
	for _, m := range typeLine.FindAllStringSubmatch(text, -1) {
		kinds[m[1]] = m[2]
	}
	for _, m := range dataLine.FindAllStringSubmatch(text, -1) {
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if name := "`" + l[1] + "`"; l[1] != "le" && !slices.Contains(labels[m[1]], name) {
				labels[m[1]] = append(labels[m[1]], name)
			}
		}
	}
	for name, prefix := range map[string]string{"metrics": "hookrouter_", "metrics of hook-worker": "hook_worker_"} {
		var rows []string
		for _, m := range helpLine.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(m[1], prefix) {
				sort.Strings(labels[m[1]])
				rows = append(rows, "| `"+m[1]+"` | "+kinds[m[1]]+" | "+strings.Join(labels[m[1]], " ")+" | "+m[2]+" |\n")
			}
		}
		sort.Strings(rows)
		part(t, name, "| metric | type | labels | meaning |\n|---|---|---|---|\n"+strings.Join(rows, ""))
	}
}

// TestAttributesTable keeps the table of attributes what attributes.go says.
func TestAttributesTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "attributes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	table := "| attribute | is |\n|---|---|\n"
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Key") {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		table += "| `" + name + "` | " + strings.TrimSpace(spec.Comment.Text()) + " |\n"
		return true
	})
	part(t, "attributes", table)
}

// part compares a part of the page with what it must be, or writes it.
func part(t *testing.T, name, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- begin "+name+" -->\n"), []byte("<!-- end "+name+" -->")
	from, to := bytes.Index(text, begin)+len(begin), bytes.Index(text, end)
	if from < len(begin) || to < from {
		t.Fatalf("%s has no part %q", page, name)
	}
	if string(text[from:to]) == want {
		return
	}
	if os.Getenv("HOOKROUTER_WRITE_DOCS") == "" {
		t.Fatalf("%s: the part %q is out of date: run HOOKROUTER_WRITE_DOCS=1 go test ./internal/telemetry -run Table; want\n%s", page, name, want)
	}
	if err := os.WriteFile(page, slices.Concat(text[:from], []byte(want), text[to:]), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestThePublicPackagesNameAttributesTheSame: they must not import this package.
func TestThePublicPackagesNameAttributesTheSame(t *testing.T) {
	own, err := os.ReadFile("attributes.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range []string{"../../pkg/agent/span.go", "../../pkg/worker/span.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`"hookrouter\.[a-z_.]+"`).FindAllString(string(text), -1) {
			if found++; !strings.Contains(string(own), name) {
				t.Errorf("%s has the attribute %s, which attributes.go does not know", path, name)
			}
		}
	}
	if found == 0 {
		t.Error("found no attribute")
	}
}
