//go:build planted

package lint

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hookrouter/hookrouter"

const (
	natsClient = "github.com/nats-io/nats.go"
	natsServer = "github.com/nats-io/nats-server/v2/server"
	cel        = "cel.dev/cel-go/cel"
	opa        = "github.com/open-policy-agent/opa/v1/rego"
)

// An importPlant is a file of a package of this module that imports one thing.
type importPlant struct {
	name string
	file string // a file ending in _test.go is planted as an external test
	imp  string // an import path; one that starts with "/" is in this module
	list string // the depguard rule that must name it; empty: it is allowed
}

// importPlants has at least one violation of every depguard rule in
// .golangci.yml, and what must stay allowed next to it.
var importPlants = []importPlant{
	{"events import the chain", "pkg/events/planted.go", "/pkg/chain", "events"},
	{"events import natsx", "pkg/events/planted.go", "/internal/natsx", "events"},
	{"events import the NATS client", "pkg/events/planted.go", natsClient, "nats-client"},

	{"the chain imports events", "pkg/chain/planted.go", "/pkg/events", ""},
	{"the chain imports approvals", "pkg/chain/planted.go", "/pkg/approval", "decisions"},
	{"a package below the chain imports a router", "pkg/chain/below/planted.go", "/internal/router", "decisions"},
	{"approvals import the YAML reader", "pkg/approval/planted.go", "/internal/strictyaml", ""},
	{"the verdict imports the chain", "pkg/verdict/planted.go", "/pkg/chain", ""},
	{"the audit format imports the verdict", "pkg/audit/planted.go", "/pkg/verdict", "decisions"},
	{"the audit format imports natsx", "pkg/audit/planted.go", "/internal/natsx", "decisions"},

	{"hooks without a bus compile match", "pkg/local/planted.go", "/internal/policy/match", ""},
	{"hooks without a bus import natsx", "pkg/local/planted.go", "/internal/natsx", "local"},

	{"an agent imports natsx", "pkg/agent/planted.go", "/internal/natsx", ""},
	{"an agent imports a router", "pkg/agent/planted.go", "/internal/router", "clients"},
	{"an approver imports the approvals service", "pkg/approver/planted.go", "/internal/approvals", "clients"},
	{"a new public package imports the registry", "pkg/unheardof/planted.go", "/internal/registry", "clients"},
	{"the test kit of users imports a server", "pkg/hooktest/planted.go", "/internal/server", ""},

	{"the matcher imports events", "internal/policy/match/planted.go", "/pkg/events", ""},
	{"the redaction imports natsx", "internal/policy/redact/planted.go", "/internal/natsx", "libraries"},
	{"the proof of durability imports natsx", "internal/auditlog/synccheck/planted.go", "/internal/natsx", "libraries"},
	{"webhooks import the approvals service", "internal/webhook/planted.go", "/internal/approvals", "libraries"},

	{"natsx imports wire", "internal/natsx/planted.go", "/internal/wire", ""},
	{"natsx imports the registry", "internal/natsx/planted.go", "/internal/registry", "bus"},
	{"wire imports the chain", "internal/wire/planted.go", "/pkg/chain", "bus"},

	{"the registry imports natsx", "internal/registry/planted.go", "/internal/natsx", ""},
	{"the approvals service imports the audit log", "internal/approvals/planted.go", "/internal/auditlog/store", ""},
	{"the registry imports dispatch", "internal/registry/planted.go", "/internal/dispatch", "state"},
	{"the signer imports an endpoint", "internal/auditlog/signer/planted.go", "/internal/api/console", "state"},
	{"the witness imports the audit format", "internal/auditlog/witness/planted.go", "/pkg/audit", ""},
	{"the witness imports the signer", "internal/auditlog/witness/planted.go", "/internal/auditlog/signer", "witness"},

	{"telemetry imports the chain", "internal/telemetry/planted.go", "/pkg/chain", ""},
	{"telemetry imports natsx", "internal/telemetry/planted.go", "/internal/natsx", "telemetry"},
	{"an agent imports OpenTelemetry's SDK", "pkg/agent/planted.go", "go.opentelemetry.io/otel/sdk/trace", "telemetry-sdk"},
	{"a server imports the exporters", "internal/server/planted.go", "/internal/telemetry/otlp", "telemetry-exporters"},
	{"an agent imports OpenTelemetry's API", "pkg/agent/planted.go", "go.opentelemetry.io/otel/trace", ""},

	{"dispatch imports the chain", "internal/dispatch/planted.go", "/pkg/chain", ""},
	{"dispatch imports natsx", "internal/dispatch/planted.go", "/internal/natsx", "dispatch"},
	{"dispatch imports the registry", "internal/dispatch/planted.go", "/internal/registry", "dispatch"},
	{"dispatch imports the NATS client", "internal/dispatch/planted.go", natsClient, "nats-client"},

	{"endpoints import dispatch", "internal/api/nats/planted.go", "/internal/dispatch", ""},
	{"endpoints import the recorder", "internal/api/nats/planted.go", "/internal/auditlog/recorder", "api"},
	{"the console imports a server", "internal/api/console/planted.go", "/internal/server", "api"},
	{"hookctl imports a client", "internal/cli/event/planted.go", "/pkg/agent", ""},
	{"hookctl imports dispatch", "internal/cli/event/planted.go", "/internal/dispatch", "cli"},
	{"a telemetry reader imports an endpoint", "internal/contract/below/planted.go", "/internal/api/nats", "top"},
	{"the replay imports a server", "internal/evaluate/replay/planted.go", "/internal/server", "top"},

	{"a builtin imports the chain", "internal/builtin/datetime/planted.go", "/pkg/chain", ""},
	{"a builtin imports the registry", "internal/builtin/datetime/planted.go", "/internal/registry", "hooks"},
	{"the replay imports natsx", "internal/evaluate/replay/planted.go", "/internal/natsx", ""},
	{"a builtin imports natsx", "internal/builtin/datetime/planted.go", "/internal/natsx", "guards"},
	{"the reload imports a worker", "internal/workerfile/reload/planted.go", "/pkg/worker", ""},
	{"the reload imports natsx", "internal/workerfile/reload/planted.go", "/internal/natsx", "guards"},

	{"a server imports a command", "internal/server/planted.go", "/cmd/hook-router", "cmd"},
	{"an example imports a command", "examples/planted/planted.go", "/cmd/hookctl", "cmd"},
	{"a command imports a server", "cmd/hook-router/planted.go", "/internal/server", ""},
	{"a command imports the NATS client", "cmd/hook-router/planted.go", natsClient, ""},
	{"a worker's tests import the bench", "pkg/worker/planted_test.go", "/test/bench", "test"},
	{"the bench imports a package of test", "test/bench/planted.go", "/test/conformance", ""},

	{"natsx imports the NATS client", "internal/natsx/planted.go", natsClient, ""},
	{"a worker imports the NATS client", "pkg/worker/planted.go", natsClient, ""},
	{"the chain imports a part of the NATS client", "pkg/chain/planted.go", natsClient + "/jetstream", "nats-client"},
	{"an example imports the NATS client", "examples/planted/planted.go", natsClient, "nats-client"},
	{"the bench imports the NATS client", "test/bench/planted.go", natsClient, ""},
	{"the embedded server imports the NATS server", "internal/server/embedded/planted.go", natsServer, ""},
	{"the embedded server imports the NATS client", "internal/server/embedded/planted.go", natsClient, ""},
	{"a server's tests import the NATS server", "internal/server/planted_test.go", natsServer, ""},
	{"the bench imports the NATS server", "test/bench/planted.go", natsServer, ""},
	{"natsx imports the NATS server", "internal/natsx/planted.go", natsServer, "nats-server"},
	{"a command imports the NATS server", "cmd/hook-router/planted.go", natsServer, "nats-server"},

	{"the matcher imports CEL", "internal/policy/match/planted.go", cel, ""},
	{"the chain's tests import CEL", "pkg/chain/planted_test.go", cel, "cel"},
	{"cel hooks import CEL", "internal/workerfile/celhook/planted.go", cel, ""},
	{"worker files import CEL", "internal/workerfile/planted.go", cel, "cel"},
	{"worker files import CEL by its old name", "internal/workerfile/planted.go", "github.com/google/cel-go/cel", "cel"},
	{"rego hooks import OPA", "internal/workerfile/regohook/planted.go", opa, ""},
	{"hookctl imports OPA", "cmd/hookctl/planted.go", opa, "opa"},
	{"the tests of exec hooks import OPA", "internal/workerfile/exechook/planted_test.go", opa, "opa"},
}

// A callPlant is a file that makes one call.
type callPlant struct {
	name string
	file string
	imp  string
	call string
	says string // what the finding must say; empty: the call is allowed
}

const (
	noSleep = "no time.Sleep in a test"
	noPrint = "no printing from a library"
	noExit  = "only main touches os.Args and os.Exit"
)

var callPlants = []callPlant{
	{"a test sleeps", "pkg/events/planted_test.go", `"time"`, "time.Sleep(1)", noSleep},
	{"a test sleeps under another name", "test/bench/planted_test.go", `clock "time"`, "clock.Sleep(1)", noSleep},
	{"a back-off sleeps", "pkg/worker/planted.go", `"time"`, "time.Sleep(1)", ""},
	{"a library prints", "pkg/events/planted.go", `"fmt"`, `fmt.Println("x")`, noPrint},
	{"an internal package prints", "internal/registry/planted.go", `"fmt"`, `fmt.Printf("x")`, noPrint},
	{"a test prints", "pkg/events/planted_test.go", `"fmt"`, `fmt.Println("x")`, ""},
	{"a command prints", "cmd/hookctl/planted.go", `"fmt"`, `fmt.Print("x")`, ""},
	{"a library exits", "internal/server/planted.go", `"os"`, "os.Exit(1)", noExit},
	{"a library reads the arguments", "pkg/agent/planted.go", `"os"`, "_ = os.Args", noExit},
	{"a command exits", "cmd/hook-router/planted.go", `"os"`, "os.Exit(1)", ""},
}

func TestPlantedViolations(t *testing.T) {
	root := moduleRoot(t)
	lint := newLinter(t, root)

	for batch := range batches(importPlants) {
		t.Run("imports", func(t *testing.T) {
			tree := emptyModule(t, root)
			files := make([]plant, len(batch))
			for i, p := range batch {
				if dir, here := strings.CutPrefix(p.imp, "/"); here {
					standIn(t, tree, dir)
				}
				files[i] = plant{p.file, fmt.Sprintf("import _ %q\n", p.path())}
			}
			for i, says := range lint.plants(t, tree, "depguard", files) {
				p := batch[i]
				t.Run(p.name, func(t *testing.T) {
					expect(t, says, p.list != "", fmt.Sprintf("import '%s' is not allowed from list '%s': ", p.path(), p.list))
				})
			}
		})
	}

	t.Run("calls", func(t *testing.T) {
		files := make([]plant, len(callPlants))
		for i, p := range callPlants {
			files[i] = plant{p.file, fmt.Sprintf("import %s\n\nfunc planted%d() { %s }\n", p.imp, i, p.call)}
		}
		for i, says := range lint.plants(t, emptyModule(t, root), "forbidigo", files) {
			p := callPlants[i]
			t.Run(p.name, func(t *testing.T) { expect(t, says, p.says != "", p.says) })
		}
	})
}

// batches splits plants so that no package of a batch has a plant and is imported by one, which
// could close an import cycle: the compiler would refuse it before the linter has a look.
func batches(plants []importPlant) iter.Seq[[]importPlant] {
	return func(yield func([]importPlant) bool) {
		for len(plants) > 0 {
			var batch, rest []importPlant
			for _, p := range plants {
				if slices.ContainsFunc(batch, func(other importPlant) bool { return p.imports(other) || other.imports(p) }) {
					rest = append(rest, p)
				} else {
					batch = append(batch, p)
				}
			}
			if !yield(batch) {
				return
			}
			plants = rest
		}
	}
}

// path returns the import path.
func (p importPlant) path() string {
	if strings.HasPrefix(p.imp, "/") {
		return module + p.imp
	}
	return p.imp
}

// imports reports whether p imports the package of other.
func (p importPlant) imports(other importPlant) bool {
	return p.path() == module+"/"+path.Dir(other.file)
}

// TestEveryRuleIsPlanted keeps the table above complete: a rule that nobody
// violates on purpose is a rule that nobody knows to work.
func TestEveryRuleIsPlanted(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(moduleRoot(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := bytes.Cut(config, []byte("\n    depguard:\n      rules:\n"))
	if !found {
		t.Fatal(".golangci.yml has no depguard rules where this test looks for them")
	}
	block, _, _ := bytes.Cut(after, []byte("\n  exclusions:"))
	names := regexp.MustCompile(`(?m)^ {8}([\w-]+):$`).FindAllSubmatch(block, -1)
	if len(names) == 0 {
		t.Fatal("found no depguard rule in .golangci.yml")
	}
	for _, name := range names {
		rule := string(name[1])
		if !slices.ContainsFunc(importPlants, func(p importPlant) bool { return p.list == rule }) {
			t.Errorf("no planted violation of depguard's rule %q: add one to importPlants", rule)
		}
	}
}

// expect compares what the linter says about a planted file with what it must say.
func expect(t *testing.T, says string, violation bool, want string) {
	t.Helper()
	switch {
	case !violation && says != "":
		t.Errorf("this is allowed, but the linter says:\n%s", says)
	case violation && says == "":
		t.Errorf("not caught: want %q", want)
	case violation && !strings.Contains(says, want):
		t.Errorf("caught, but not by the right rule: want %q; the linter says:\n%s", want, says)
	}
}

// linter runs some linters of golangci-lint on packages of a tree. What it returns is empty if
// there are no findings.
type linter func(tree, only string, patterns ...string) string

// newLinter builds the pinned golangci-lint.
func newLinter(t *testing.T, root string) linter {
	t.Helper()
	// The first call builds the linter, which is what makes its path known.
	build := exec.Command("go", "tool", "-modfile=tools/go.mod", "golangci-lint", "version")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build golangci-lint: %v\n%s", err, out)
	}
	find := exec.Command("go", "tool", "-n", "-modfile=tools/go.mod", "golangci-lint")
	find.Dir = root
	bin, err := find.Output()
	if err != nil {
		t.Fatalf("find golangci-lint: %v", err)
	}
	return func(tree, only string, patterns ...string) string {
		cmd := exec.Command(strings.TrimSpace(string(bin)), append([]string{"run", "--enable-only", only}, patterns...)...)
		cmd.Dir = tree
		out, err := cmd.CombinedOutput()
		if err == nil {
			return ""
		}
		// 1 is golangci-lint's code for findings; anything else is its own trouble.
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			t.Fatalf("run golangci-lint: %v\n%s", err, out)
		}
		return string(out)
	}
}

// A plant is a file that is added to a tree. One that ends in _test.go is an external test.
type plant struct{ file, body string }

// plants adds files to tree, runs linters on their packages at once, and returns the findings in
// each.
func (l linter) plants(t *testing.T, tree, only string, files []plant) []string {
	t.Helper()
	var dirs []string
	for i, p := range files {
		dir := path.Dir(p.file)
		if pattern := "./" + dir; !slices.Contains(dirs, pattern) {
			dirs = append(dirs, pattern)
			standIn(t, tree, dir) // an external test needs a package to test
		}
		write(t, filepath.Join(tree, numbered(i, p.file)), "package "+packageOf(p.file)+"\n\n"+p.body)
	}
	out := l(tree, only, dirs...)
	if strings.Contains(out, "(typecheck)") {
		t.Fatalf("a planted file does not compile, so nothing is proved:\n%s", out)
	}
	says := make([]string, len(files))
	for line := range strings.Lines(out) {
		for i, p := range files {
			if strings.HasPrefix(line, numbered(i, p.file)+":") {
				says[i] += line
			}
		}
	}
	return says
}

// numbered gives the i-th planted file a name of its own.
func numbered(i int, file string) string {
	return path.Join(path.Dir(file), fmt.Sprintf("plant%d%s", i, strings.TrimPrefix(path.Base(file), "planted")))
}

// packageOf returns the name of the package that a planted file declares.
func packageOf(file string) string {
	name := packageName(path.Dir(file))
	if strings.HasSuffix(file, "_test.go") {
		name += "_test"
	}
	return name
}

// emptyModule returns a directory with this module's go.mod and the linters' settings. Rules look at
// paths and imports only, so the packages of the module are not needed.
func emptyModule(t *testing.T, root string) string {
	t.Helper()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum", ".golangci.yml"} {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(tree, file), string(content))
	}
	return tree
}

// standIn adds an empty package to tree.
func standIn(t *testing.T, tree, dir string) {
	t.Helper()
	name := packageName(dir)
	write(t, filepath.Join(tree, dir, "doc.go"), "// Package "+name+" stands in.\npackage "+name+"\n")
}

func packageName(dir string) string {
	return strings.ReplaceAll(path.Base(dir), "-", "")
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
