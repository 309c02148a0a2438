package grafana

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
)

// Where the files and the sources are, seen from here.
const (
	root    = "../.."
	rulesAt = root + "/deploy/grafana/rules.yml"
	boardAt = root + "/deploy/grafana/dashboard.json"
	pageAt  = root + "/docs/runbook.md"
)

// binaries is where TestMain builds the programs of the tree.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "grafana")
	if err != nil {
		panic(err)
	}
	binaries = dir
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/hook-router", "./cmd/hookctl")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// deployed are the rules that are deployed.
func deployed(t *testing.T) []rulefmt.Rule {
	t.Helper()
	rules, err := Rules(read(t, rulesAt))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// board is the dashboard that is deployed.
func board(t *testing.T) *Dashboard {
	t.Helper()
	d := &Dashboard{}
	if err := json.Unmarshal(read(t, boardAt), d); err != nil {
		t.Fatal(err)
	}
	return d
}
