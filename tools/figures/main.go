// Command figures measures how long a new user waits for the first verdict, and writes the result
// to the part "figures" of README.md.
//
//	go -C tools run ./figures
//
// One figure is for the release binary: from the start of `hook-router demo` to the first verdict
// on the screen. The other is for a fresh clone with empty caches: from `git clone` to the first
// verdict of `go run ./cmd/hook-router demo`, including downloads and compilation, which takes
// minutes; -warm keeps the value in README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookrouter/hookrouter/tools/internal/checkout"
)

func main() {
	warm := flag.Bool("warm", false, "measure the release binary only")
	flag.Parse()
	checkout.Main("figures", func(ctx context.Context) error { return run(ctx, *warm) })
}

func run(ctx context.Context, warm bool) error {
	root, err := checkout.Root(ctx)
	if err != nil {
		return err
	}
	readme := filepath.Join(root, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hookrouter-figures-")
	if err != nil {
		return err
	}
	defer func() { _ = exec.Command("chmod", "-R", "u+w", dir).Run(); _ = os.RemoveAll(dir) }() // Go's module cache is read-only
	release, err := released(ctx, root, dir)
	if err != nil {
		return err
	}
	clone := coldLine.FindString(string(text))
	if !warm {
		took, err := cold(ctx, root, dir)
		if err != nil {
			return err
		}
		clone = fmt.Sprintf("| `git clone` and `go run ./cmd/hook-router demo`, empty caches | %s |", took.Round(time.Second))
	}
	part := fmt.Sprintf("| to the first verdict on the screen, %d cores | |\n|---|---|\n| `hook-router demo`, release binary | %.1f s |\n%s\n",
		runtime.NumCPU(), release.Seconds(), clone)
	part = strings.TrimRight(part, "\n") + "\n"
	fmt.Print(part)
	begin, end := "<!-- begin figures -->\n", "<!-- end figures -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return errors.New(`README.md has no part "figures"`)
	}
	return os.WriteFile(readme, []byte(before+begin+part+end+after), 0o644)
}

// coldLine matches the figure of a clone in README.md.
var coldLine = regexp.MustCompile("(?m)^\\| `git clone` .*$")

// runs is the number of starts of the release binary.
const runs = 7

// released returns the median time for the release binary.
func released(ctx context.Context, root, dir string) (time.Duration, error) {
	program := filepath.Join(dir, "hook-router")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/hook-router")
	build.Dir, build.Stderr, build.Env = root, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("build the program: %w", err)
	}
	var all []time.Duration
	for range runs {
		began := time.Now()
		if err := verdict(exec.CommandContext(ctx, program, "demo")); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	fmt.Println("release binary:", all)
	return all[runs/2], nil
}

// cold returns the time for a clone of this checkout's last commit with empty Go caches.
func cold(ctx context.Context, root, dir string) (time.Duration, error) {
	clone := filepath.Join(dir, "clone")
	began := time.Now()
	git := exec.CommandContext(ctx, "git", "clone", "--quiet", "--no-local", root, clone)
	git.Stderr = os.Stderr
	if err := git.Run(); err != nil {
		return 0, fmt.Errorf("clone: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/hook-router", "demo")
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"), "GOMODCACHE="+filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw")
	err := verdict(cmd)
	return time.Since(began), err
}

// first matches the line of the demo's first event, which ends with its verdict.
var first = regexp.MustCompile(`^ 1  session:start .* continue `)

// verdict runs the demo until it prints the line of the first event.
func verdict(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run has a child
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() }()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if first.MatchString(lines.Text()) {
			return nil
		}
	}
	return fmt.Errorf("%s ended without a verdict", cmd)
}
