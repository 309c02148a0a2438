package k8s

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Where the manifests and the sources are, seen from here.
const (
	root     = "../.."
	deployed = root + "/deploy/k8s"
)

// binaries is where TestMain builds the programs that the image holds.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "k8s")
	if err != nil {
		panic(err)
	}
	binaries = dir
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/...")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// program runs one of the programs and gives what it printed.
func program(env []string, name string, args ...string) (string, error) {
	c := exec.Command(filepath.Join(binaries, name), args...)
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// secrets are the manifests that deploy/k8s/secrets makes, built once from a copy
// of it in which its script has run.
var secrets = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp(binaries, "deploy")
	if err != nil {
		return nil, err
	}
	for _, part := range []string{"namespace", "secrets"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(deployed, part))); err != nil {
			return nil, err
		}
	}
	c := exec.Command("sh", filepath.Join(dir, "secrets", "make"))
	c.Env = append(os.Environ(), "PATH="+binaries+":"+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make secrets: %w\n%s", err, out)
	}
	return Build(filepath.Join(dir, "secrets"))
})

// load builds one of the kustomizations, "base" or "overlays/…", with the Secrets
// that belong to it.
func load(t *testing.T, name string) *Set {
	t.Helper()
	text, err := Build(filepath.Join(deployed, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, "dev") {
		extra, err := secrets()
		if err != nil {
			t.Fatal(err)
		}
		_, extra, _ = bytes.Cut(extra, []byte("\n---\n")) // its Namespace is there already
		text = slices.Concat(text, []byte("---\n"), extra)
	}
	if name == identified {
		extra, err := identities()
		if err != nil {
			t.Fatal(err)
		}
		text = slices.Concat(text, []byte("---\n"), extra.manifests)
	}
	set, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// all are the kustomizations that are deployed.
var all = []string{"base", "overlays/dev", "overlays/prod", identified}

// identified is the one with identities in the place of passwords.
const identified = "overlays/identities"
