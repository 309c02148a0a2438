package initfile_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/initfile"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// hookctl runs the command of this package, and the one that runs the file it writes.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Init initfile.Cmd   `cmd:""`
		Test policy.TestCmd `cmd:""`
	}{})
}

// project creates a directory with these files, and hookctl without a router.
func project(t *testing.T, files map[string]string) (dir string, f *clitest.Fixture) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
}

// everything has a file of each known thing, and targets that try to inject rules.
var everything = map[string]string{
	"go.mod": "module x", "pyproject.toml": "", "Cargo.toml": "", "pom.xml": "", "Gemfile": "", "composer.json": "{}", "a.sln": "",
	"package.json": `{"scripts": {"build": "x", "evil\n        allow: ['*']": "x", "a b": "x"}}`,
	"Makefile":     "VAR := x\n.PHONY: all\nall: deploy-prod\ndeploy-prod:\n\tx\n\"*\": x\n", "justfile": "ship *args:\n  x\n",
	".env": "KEY=x", ".git/HEAD": "", ".github/workflows/ci.yml": "", ".claude/settings.json": "{}", "docker-compose.yml": "",
	"infra/main.tf": "", "k8s/app.yaml": "",
}

// The written file is valid without a warning, passes its own tests, and is reported.
func TestWhatIsWrittenIsValid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files    map[string]string
		found    []string
		commands []string
	}{
		"an empty directory": {nil, []string{}, []string{}},
		"everything": {everything, []string{
			"Go", "Node.js", "Python", "Rust", "Java or Kotlin", "Ruby", "PHP", ".NET", ".env files", "git", "CI configuration",
			"settings of coding agents", "containers", "Terraform", "Kubernetes manifests",
		}, []string{"just ship", "make all", "make deploy-prod", "npm run build"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, f := project(t, c.files)
			got := f.Run("--json", "init", dir)
			var made struct {
				File            string
				Found, Commands []string
			}
			if err := json.Unmarshal([]byte(got.Stdout), &made); err != nil || got.Code != cli.ExitOK {
				t.Fatalf("%+v: %v", got, err)
			}
			path := filepath.Join(dir, "worker.yaml")
			said := strings.Join(strings.Fields(f.Run("init", "--force", dir).Stdout), " ")
			if !strings.Contains(said, "found in this project: "+cmp.Or(strings.Join(c.found, ", "), "nothing it knows")) {
				t.Errorf("it prints %s", said)
			}
			if made.File != path || !slices.Equal(made.Found, c.found) || !slices.Equal(made.Commands, c.commands) {
				t.Errorf("it says %+v", made)
			}
			var stderr bytes.Buffer
			file, err := workerfiles.Load(path, kind.Worker{}, &stderr) // as hook-worker validate does
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			defer file.Close()
			if warnings := workerfiles.Warn(file, &stderr); len(warnings) > 0 {
				t.Errorf("warnings: %s", &stderr)
			}
			if got := f.Run("test", path); got.Code != cli.ExitOK {
				t.Errorf("its own tests: %+v", got)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, thing := range c.found {
				if !strings.Contains(string(text[:bytes.IndexByte(text, '\n')]), thing) {
					t.Errorf("the heading does not name %s", thing)
				}
			}
			if strings.Contains(string(text), "evil") {
				t.Error("a name that is none is in the file")
			}
		})
	}
}

// The directory may be given as in the README.
func TestTheProjectIsWhereItIsTyped(t *testing.T) {
	dir, f := project(t, map[string]string{"go.mod": "module x", "infra/main.tf": ""})
	t.Chdir(dir)
	got := f.Run("init")
	if got.Code != cli.ExitOK || !strings.Contains(strings.Join(strings.Fields(got.Stdout), " "), "found in this project: Go, Terraform") {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile("worker.yaml"); err != nil || !strings.Contains(string(text), "terraform destroy") {
		t.Errorf("%v, %s", err, text)
	}
	if again := f.Run("init"); again.Code == cli.ExitOK || !strings.Contains(again.Stderr, "worker.yaml is there already") {
		t.Errorf("again: %+v", again)
	}
}

func TestNothingIsWrittenOver(t *testing.T) {
	t.Parallel()
	dir, f := project(t, map[string]string{"worker.yaml": "mine"})
	path := filepath.Join(dir, "worker.yaml")
	if got := f.Run("init", dir); got.Code == cli.ExitOK || !strings.Contains(got.Stderr, "is there already") {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Fatalf("it holds %q, %v", text, err)
	}
	got := f.Run("init", dir, "--force")
	if text, _ := os.ReadFile(path); got.Code != cli.ExitOK || string(text) == "mine" {
		t.Errorf("with --force: %+v", got)
	}
	for _, next := range []string{"hookctl test " + path, "hook-router up --policy " + path} {
		if !strings.Contains(got.Stdout, next) {
			t.Errorf("it does not say %q: %s", next, got.Stdout)
		}
	}
	if got := f.Run("init", dir, "--output", "../elsewhere.yaml"); got.Code == cli.ExitOK {
		t.Errorf("outside of the directory: %+v", got)
	}
}
