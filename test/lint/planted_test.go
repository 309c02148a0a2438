//go:build planted

package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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
	{"events imports the chain", "pkg/events/planted.go", "/pkg/chain", "events"},
	{"events imports the wire", "pkg/events/planted.go", "/internal/natsx", "events"},
	{"events imports the NATS client", "pkg/events/planted.go", natsClient, "nats-client"},

	{"the chain imports the events", "pkg/chain/planted.go", "/pkg/events", ""},
	{"the chain imports the matcher", "pkg/chain/planted.go", "/internal/policy/match", "chain"},
	{"the chain imports the approvals", "pkg/chain/planted.go", "/pkg/approval", "chain"},
	{"the chain imports the NATS client", "pkg/chain/planted.go", natsClient, "nats-client"},
	{"the chain imports a part of the NATS client", "pkg/chain/planted.go", natsClient + "/jetstream", "nats-client"},
	{"the chain imports CEL", "pkg/chain/planted.go", cel, "cel"},
	{"the chain's tests import CEL", "pkg/chain/planted_test.go", cel, "cel"},
	{"a package below the chain imports the router", "pkg/chain/below/planted.go", "/internal/router", "chain"},

	{"the matcher imports CEL", "internal/policy/match/planted.go", cel, ""},
	{"the matcher imports verdicts", "internal/policy/match/planted.go", "/pkg/verdict", "match"},

	{"the approvals import the events", "pkg/approval/planted.go", "/pkg/events", ""},
	{"the approvals import the chain", "pkg/approval/planted.go", "/pkg/chain", "approval"},
	{"the verdict imports the chain", "pkg/verdict/planted.go", "/pkg/chain", ""},
	{"the verdict imports the approvals", "pkg/verdict/planted.go", "/pkg/approval", "verdict"},
	{"the audit imports the chain", "pkg/audit/planted.go", "/pkg/chain", "audit"},
	{"the audit imports the approvals", "pkg/audit/planted.go", "/pkg/approval", "audit"},
	{"the redaction imports the events", "internal/policy/redact/planted.go", "/pkg/events", "redact"},
	{"the YAML reader imports the events", "internal/strictyaml/planted.go", "/pkg/events", "strictyaml"},

	{"an agent imports the wire", "pkg/agent/planted.go", "/internal/natsx", ""},
	{"an agent imports the NATS client", "pkg/agent/planted.go", natsClient, ""},
	{"an agent imports the router", "pkg/agent/planted.go", "/internal/router", "agent"},
	{"an agent imports the verdict", "pkg/agent/planted.go", "/pkg/verdict", ""},
	{"an approver imports the wire", "pkg/approver/planted.go", "/internal/natsx", ""},
	{"an approver imports the NATS client", "pkg/approver/planted.go", natsClient, ""},
	{"an approver imports the desk", "pkg/approver/planted.go", "/internal/approvals", "approver"},
	{"a worker imports the chain", "pkg/worker/planted.go", "/pkg/chain", ""},
	{"a worker imports the NATS client", "pkg/worker/planted.go", natsClient, ""},
	{"a worker imports an agent", "pkg/worker/planted.go", "/pkg/agent", "worker"},
	{"a new public package imports the wire", "pkg/unheardof/planted.go", "/internal/natsx", "pkg"},
	{"the test kit imports a node", "pkg/hooktest/planted.go", "/internal/server", ""},
	{"the test kit imports the NATS client", "pkg/hooktest/planted.go", natsClient, ""},

	{"the wire imports the NATS client", "internal/natsx/planted.go", natsClient, ""},
	{"the wire imports the router", "internal/natsx/planted.go", "/internal/router", "bus"},
	{"the wire imports the chain", "internal/natsx/planted.go", "/pkg/chain", "bus"},

	{"the desk imports the verdict", "internal/approvals/planted.go", "/pkg/verdict", ""},
	{"the desk imports the router", "internal/approvals/planted.go", "/internal/router", "approvals"},
	{"the sessions import the desk", "internal/session/planted.go", "/internal/approvals", "session"},
	{"the console imports the desk", "internal/api/console/planted.go", "/internal/approvals", "console"},
	{"the webhooks import the wire", "internal/webhook/planted.go", "/internal/natsx", "webhook"},
	{"the desk imports the log", "internal/approvals/planted.go", "/internal/auditlog/store", ""},
	{"the log imports the wire", "internal/auditlog/store/planted.go", "/internal/natsx", ""},
	{"the log imports the records", "internal/auditlog/store/planted.go", "/pkg/audit", "trail"},
	{"the recorder imports the log", "internal/auditlog/recorder/planted.go", "/internal/auditlog/store", ""},
	{"the recorder imports the notary", "internal/auditlog/recorder/planted.go", "/internal/auditlog/signer", "recorder"},
	{"the notary imports the records", "internal/auditlog/signer/planted.go", "/pkg/audit", ""},
	{"the notary imports the recorder", "internal/auditlog/signer/planted.go", "/internal/auditlog/recorder", "notary"},
	{"the proof of durability imports the wire", "internal/auditlog/durability/planted.go", "/internal/natsx", "durability"},
	{"the witness imports the records", "internal/auditlog/witness/planted.go", "/pkg/audit", ""},
	{"the witness imports the notary", "internal/auditlog/witness/planted.go", "/internal/auditlog/signer", "witness"},
	{"the reading of the log imports the log", "internal/auditlog/query/planted.go", "/internal/auditlog/store", ""},
	{"the reading of the log imports the recorder", "internal/auditlog/query/planted.go", "/internal/auditlog/recorder", "auditread"},
	{"a builtin imports the chain", "internal/builtin/datetime/planted.go", "/pkg/chain", ""},
	{"a builtin imports signatures", "internal/builtin/datetime/planted.go", "/internal/webhook/signature", ""},
	{"a builtin imports the sender of webhooks", "internal/builtin/datetime/planted.go", "/internal/webhook", "builtin"},
	{"a builtin imports the wire", "internal/builtin/datetime/planted.go", "/internal/natsx", "builtin"},
	{"the hooks' memory imports the wire", "internal/hookstate/planted.go", "/internal/natsx", ""},
	{"the hooks' memory imports the kinds", "internal/hookstate/planted.go", "/internal/workerfile/kind", "hookstate"},
	{"the reading of traces imports that of the log", "internal/telemetry/traces/planted.go", "/internal/auditlog/query", ""},
	{"the reading of traces imports the telemetry", "internal/telemetry/traces/planted.go", "/internal/telemetry", "traceread"},
	{"the set of hooks imports a worker", "internal/workerfile/reload/planted.go", "/pkg/worker", ""},
	{"the set of hooks imports the wire", "internal/workerfile/reload/planted.go", "/internal/natsx", "hookset"},
	{"a builtin imports what runs programs", "internal/builtin/datetime/planted.go", "/internal/process", ""},
	{"what runs programs imports the kinds", "internal/process/planted.go", "/internal/workerfile/kind", "program"},
	{"the watch of files imports the hook files", "internal/filewatch/planted.go", "/internal/workerfile", "filewatch"},
	{"the replay imports the chain", "internal/evaluate/replay/planted.go", "/pkg/chain", ""},
	{"the replay imports the matcher", "internal/evaluate/replay/planted.go", "/internal/policy/match", "replay"},
	{"the trial imports the replay", "internal/evaluate/planted.go", "/internal/evaluate/replay", ""},
	{"the trial imports the wire", "internal/evaluate/planted.go", "/internal/natsx", "trial"},
	{"the registry imports the wire", "internal/registry/planted.go", "/internal/natsx", ""},
	{"the registry imports the matcher", "internal/registry/planted.go", "/internal/policy/match", ""},
	{"the registry imports the router", "internal/registry/planted.go", "/internal/router", "registry"},
	{"the telemetry imports the chain", "internal/telemetry/planted.go", "/pkg/chain", ""},
	{"the telemetry imports the wire", "internal/telemetry/planted.go", "/internal/natsx", "telemetry"},
	{"an agent imports OpenTelemetry's SDK", "pkg/agent/planted.go", "go.opentelemetry.io/otel/sdk/trace", "telemetry-sdk"},
	{"an agent imports OpenTelemetry's API", "pkg/agent/planted.go", "go.opentelemetry.io/otel/trace", ""},
	{"the router imports the registry", "internal/router/planted.go", "/internal/registry", ""},
	{"the router imports the desk", "internal/router/planted.go", "/internal/approvals", ""},
	{"the router imports the recorder", "internal/router/planted.go", "/internal/auditlog/recorder", ""},
	{"the router imports the witness", "internal/router/planted.go", "/internal/auditlog/witness", "router"},
	{"the router imports the console", "internal/router/planted.go", "/internal/api/console", "router"},
	{"the router imports a node", "internal/router/planted.go", "/internal/server", "router"},
	{"the router imports a command", "internal/router/planted.go", "/cmd/hook-router", "cmd"},
	{"the router imports the NATS client", "internal/router/planted.go", natsClient, "nats-client"},

	{"the embedded server imports the NATS server", "internal/server/embedded/planted.go", natsServer, ""},
	{"the embedded server imports the NATS client", "internal/server/embedded/planted.go", natsClient, ""},
	{"the router's tests import the NATS server", "internal/router/planted_test.go", natsServer, ""},
	{"the wire imports the NATS server", "internal/natsx/planted.go", natsServer, "nats-server"},
	{"a command imports the NATS client", "cmd/hook-router/planted.go", natsClient, ""},
	{"a command imports the NATS server", "cmd/hook-router/planted.go", natsServer, "nats-server"},
	{"a command imports a node", "cmd/hook-router/planted.go", "/internal/server", ""},
	{"the operator's command imports CEL", "cmd/hookctl/planted.go", cel, "cel"},
	{"the kind cel imports CEL", "internal/workerfile/celhook/planted.go", cel, ""},
	{"the hook files import CEL", "internal/workerfile/planted.go", cel, "cel"},
	{"the hook files import CEL by its old name", "internal/workerfile/planted.go", "github.com/google/cel-go/cel", "cel"},

	{"the dialect of Claude Code imports the chain", "internal/workerfile/claudecode/planted.go", "/pkg/chain", ""},
	{"the dialect of Claude Code imports a kind", "internal/workerfile/claudecode/planted.go", "/internal/workerfile/kind", "claudecode"},
	{"the kind http imports the signature", "internal/workerfile/httphook/planted.go", "/internal/webhook/signature", ""},
	{"the kind http imports the desk", "internal/workerfile/httphook/planted.go", "/internal/approvals", "httpkind"},
	{"the kind rego imports OPA", "internal/workerfile/regohook/planted.go", opa, ""},
	{"the kind rego imports the kind cel", "internal/workerfile/regohook/planted.go", "/internal/workerfile/celhook", "regokind"},
	{"the operator's command imports OPA", "cmd/hookctl/planted.go", opa, "opa"},
	{"the worker's command imports OPA", "cmd/hook-worker/planted.go", opa, "opa"},
	{"the kind exec's tests import OPA", "internal/workerfile/exechook/planted_test.go", opa, "opa"},

	{"an example imports a command", "examples/planted/planted.go", "/cmd/hookctl", "cmd"},
	{"the worker's tests import the bench", "pkg/worker/planted_test.go", "/test/bench", "test"},
	{"the bench imports the NATS client", "test/bench/planted.go", natsClient, ""},
	{"the bench imports the NATS server", "test/bench/planted.go", natsServer, ""},
	{"an example imports the NATS client", "examples/planted/planted.go", natsClient, "nats-client"},
	{"the bench imports a package of test", "test/bench/planted.go", "/test/conformance", ""},
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
	{"an internal package prints", "internal/router/planted.go", `"fmt"`, `fmt.Printf("x")`, noPrint},
	{"a test prints", "pkg/events/planted_test.go", `"fmt"`, `fmt.Println("x")`, ""},
	{"a command prints", "cmd/hookctl/planted.go", `"fmt"`, `fmt.Print("x")`, ""},
	{"a library exits", "internal/server/planted.go", `"os"`, "os.Exit(1)", noExit},
	{"a library reads the arguments", "pkg/agent/planted.go", `"os"`, "_ = os.Args", noExit},
	{"a command exits", "cmd/hook-router/planted.go", `"os"`, "os.Exit(1)", ""},
}

func TestPlantedViolations(t *testing.T) {
	root := moduleRoot(t)
	lint := linter(t, root)
	tree := copyTree(t, root)

	t.Run("the unplanted tree is clean", func(t *testing.T) {
		if out, clean := lint(tree, "depguard,forbidigo", "./..."); !clean {
			t.Errorf("findings in the tree as it is:\n%s", out)
		}
	})

	for _, p := range importPlants {
		t.Run(p.name, func(t *testing.T) {
			imp := p.imp
			if strings.HasPrefix(imp, "/") {
				standIn(t, tree, imp[1:])
				imp = module + imp
			}
			plant(t, tree, p.file, fmt.Sprintf("import _ %q\n", imp))
			out, clean := lint(tree, "depguard", "./"+path.Dir(p.file))
			want := fmt.Sprintf("import '%s' is not allowed from list '%s': ", imp, p.list)
			expect(t, out, clean, p.list != "", p.file, want)
		})
	}

	for _, p := range callPlants {
		t.Run(p.name, func(t *testing.T) {
			plant(t, tree, p.file, fmt.Sprintf("import %s\n\nfunc planted() { %s }\n", p.imp, p.call))
			out, clean := lint(tree, "forbidigo", "./"+path.Dir(p.file))
			expect(t, out, clean, p.says != "", p.file, p.says)
		})
	}
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

// expect compares what the linter said with what was planted in file.
func expect(t *testing.T, out string, clean, violation bool, file, want string) {
	t.Helper()
	switch {
	case strings.Contains(out, "(typecheck)"):
		t.Errorf("the planted file does not compile, so nothing was proved:\n%s", out)
	case !violation && !clean:
		t.Errorf("this is allowed, but the linter says:\n%s", out)
	case violation && clean:
		t.Errorf("not caught: want %q in %s", want, file)
	case violation && !(strings.Contains(out, file) && strings.Contains(out, want)):
		t.Errorf("caught, but not by the right rule: want %q in %s; the linter says:\n%s", want, file, out)
	}
}

// linter builds the pinned golangci-lint and returns a function that runs some
// of its linters in a tree.
func linter(t *testing.T, root string) func(tree, only, pattern string) (out string, clean bool) {
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
	return func(tree, only, pattern string) (string, bool) {
		cmd := exec.Command(strings.TrimSpace(string(bin)), "run", "--enable-only", only, pattern)
		cmd.Dir = tree
		out, err := cmd.CombinedOutput()
		if err == nil {
			return string(out), true
		}
		// 1 is golangci-lint's code for findings; anything else is its own trouble.
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			t.Fatalf("run golangci-lint: %v\n%s", err, out)
		}
		return string(out), false
	}
}

// plant makes file the only file of its package in tree, until the end of the
// test: the rules look at paths and imports, and a package that is otherwise
// empty cannot close an import cycle, which the compiler would refuse before
// the linter has a look.
func plant(t *testing.T, tree, file, body string) {
	t.Helper()
	dir := path.Dir(file)
	standIn(t, tree, dir)
	name := packageName(dir)
	if strings.HasSuffix(file, "_test.go") {
		name += "_test"
	}
	write(t, filepath.Join(tree, file), "package "+name+"\n\n"+body)
}

// standIn replaces a package in tree by an empty one until the end of the test.
func standIn(t *testing.T, tree, dir string) {
	t.Helper()
	full := filepath.Join(tree, filepath.FromSlash(dir))
	aside := filepath.Join(t.TempDir(), "aside")
	err := os.Rename(full, aside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	existed := err == nil
	t.Cleanup(func() {
		if err := os.RemoveAll(full); err != nil {
			t.Fatal(err)
		}
		if !existed {
			return
		}
		if err := os.Rename(aside, full); err != nil {
			t.Fatal(err)
		}
	})
	write(t, filepath.Join(full, "doc.go"), "// Package "+packageName(dir)+" stands in.\npackage "+packageName(dir)+"\n")
}

func packageName(dir string) string {
	return strings.ReplaceAll(path.Base(dir), "-", "")
}

// copyTree copies what git tracks, and what it would, into a directory of its own.
func copyTree(t *testing.T, root string) string {
	t.Helper()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		t.Fatalf("list the module's files: %v", err)
	}
	for file := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, but not yet from the index
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(tree, file), string(content))
	}
	return tree
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
