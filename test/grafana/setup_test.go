package grafana

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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

// scratch is where the programs are built; TestMain removes it.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "grafana")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// programs builds the router, hook-worker and hookctl from the tree, once.
var programs = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-o", scratch+"/", "./cmd/hook-router", "./cmd/hook-worker", "./cmd/hookctl")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
})

// program is where one of them is.
func program(t *testing.T, name string) string {
	t.Helper()
	if err := programs(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(scratch, name)
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
