package k8s

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// read is a file of the product.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func goVersion(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, "go.mod"))[1]
}

const (
	dockerfile   = "deploy/docker/Dockerfile"
	dockerignore = dockerfile + ".dockerignore"
)

func TestTheDockerfileIsWell(t *testing.T) {
	text := read(t, dockerfile)
	for _, wrong := range Dockerfile(text, read(t, dockerignore), goVersion(t)) {
		t.Error(wrong)
	}
	version := regexp.MustCompile(`ARG VERSION=(\S+)`).FindStringSubmatch(text)[1]
	for _, name := range all {
		for _, w := range load(t, name).Workloads() {
			for _, c := range w.Containers() {
				if image, tag, _ := strings.Cut(c.Image, ":"); strings.HasSuffix(image, "/hook-router") && tag != version {
					t.Errorf("%s: %s runs %s, and the Dockerfile makes version %s", name, c.Name, c.Image, version)
				}
			}
		}
	}
}

func TestPlantedDockerfilesAreFound(t *testing.T) {
	for what, p := range map[string]struct{ old, new, says string }{
		"the newest Go builds":           {":1.26.8-bookworm", ":latest", "want a pinned Go"},
		"an older Go builds":             {":1.26.8-", ":1.25.8-", "want a pinned Go"},
		"the image has a shell":          {"FROM scratch", "FROM debian:13.1", "stands on debian"},
		"the programs link C":            {"CGO_ENABLED=0", "CGO_ENABLED=1", "may link C"},
		"paths are in the programs":      {" -trimpath", "", "no -trimpath"},
		"the state of git is in them":    {" -buildvcs=false", "", "no -buildvcs=false"},
		"the version is missing":         {" -X github.com/hookrouter/hookrouter/internal/version.release=$VERSION", "", "no version.release"},
		"a program is missing":           {" ./cmd/hookctl", "", "no ./cmd/hookctl"},
		"the image runs as root":         {"USER 65532:65532\n", "", "runs as"},
		"the user is a name":             {"USER 65532:65532", "USER nonroot", "runs as"},
		"the group is root":              {"USER 65532:65532", "USER 65532:0", "runs as"},
		"a shell runs the program":       {`ENTRYPOINT ["/usr/local/bin/hook-router"]`, "ENTRYPOINT hook-router", "it runs"},
		"a label is missing":             {"image.source=", "image.sauce=", "no label source"},
		"sources are in the image":       {"USER ", "COPY . /src\nUSER ", "takes more"},
		"something is fetched":           {"USER ", "ADD https://example.com/x /x\nUSER ", "takes more"},
		"what is copied is kept out":     {"COPY pkg pkg", "COPY pkg tools pkg", "keeps tools out"},
		"there is one stage":             {"FROM scratch\n", "", "not two stages"},
		"another Go may be fetched":      {" GOTOOLCHAIN=local", "", "another Go"},
		"only one kind of machine is it": {"GOARCH=$TARGETARCH ", "", "no GOARCH"},
	} {
		t.Run(what, func(t *testing.T) {
			text := read(t, dockerfile)
			changed := strings.Replace(text, p.old, p.new, 1)
			if changed == text {
				t.Fatalf("nothing to change: %q", p.old)
			}
			wrong := strings.Join(Dockerfile(changed, read(t, dockerignore), goVersion(t)), "\n")
			if !strings.Contains(wrong, p.says) {
				t.Errorf("found is %q, and nothing of %q", wrong, p.says)
			}
		})
	}
}

// TestTheImageIsReproducible does what the build stage does, without Docker, in two
// places: from what is copied and nothing else.
func TestTheImageIsReproducible(t *testing.T) {
	instructions := Instructions(read(t, dockerfile))
	run, _ := last(instructions, "RUN")
	env, _ := last(instructions[:len(instructions)/2], "ENV")
	var made []string
	for range 2 {
		src, out := t.TempDir(), t.TempDir()
		for _, source := range Copied(instructions) {
			if err := copyUntested(filepath.Join(root, source), filepath.Join(src, source)); err != nil {
				t.Fatal(err)
			}
		}
		// -p 1: whoever builds beside this shall have some of the machine.
		build := exec.Command("sh", "-c", strings.ReplaceAll(run, "-o /out/", "-p 1 -o "+out+"/"))
		build.Dir = src
		build.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH=amd64", "VERSION=7.8.9")
		build.Env = append(build.Env, strings.Fields(env)...)
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, text)
		}
		made = append(made, out)
	}
	for _, name := range []string{"hook-router", "hook-worker", "hookctl"} {
		one, err := os.ReadFile(filepath.Join(made[0], name))
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(filepath.Join(made[1], name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, other) {
			t.Errorf("%s is another one each time", name)
		}
		program, err := elf.NewFile(bytes.NewReader(one))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range program.Progs {
			if p.Type == elf.PT_INTERP {
				t.Errorf("%s is not static", name)
			}
		}
		if program.Machine == elf.EM_X86_64 {
			version, err := exec.Command(filepath.Join(made[0], name), "--version").Output()
			if err == nil && !strings.Contains(string(version), "7.8.9") {
				t.Errorf("%s --version says %s", name, version)
			}
		}
		t.Logf("%s: %d MB, static, the same twice", name, len(one)>>20)
	}
}

// copyUntested copies a file, or a directory without what the .dockerignore names
// in it: tests, and what a test left behind.
func copyUntested(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != "testdata" && name != "data" && !strings.HasSuffix(name, "_test.go") {
			if err := copyUntested(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
