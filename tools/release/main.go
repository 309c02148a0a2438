// Command release builds the files of a release from the checkout it runs in:
//
//	go -C tools run ./release -version 1.2.3
//
// For each platform, it writes an archive to dist/ with the static programs, their shell
// completions, the README, the changelog and the license; with -wheels, also a wheel of the Python
// package that contains the programs. It also writes a software bill of materials in CycloneDX
// format, and the SHA-256 sums of all these files. The same commit, version and Go version produce
// identical archives, bit for bit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/tools/internal/checkout"
)

const (
	module          = "github.com/hookrouter/hookrouter"
	everyPlatform   = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
	versionSettings = module + "/internal/version."
)

var (
	programs = []string{"hook-router", "hook-worker", "hook-agent", "hookctl"}
	shells   = []string{"bash", "zsh", "fish"}
	papers   = []string{"README.md", "CHANGELOG.md", "LICENSE"}
)

var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func main() {
	checkout.Main("release", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stdout) })
}

// release is the release that one run builds.
type release struct {
	root    string // of the repository
	out     string
	version string
	commit  string    // full hash
	date    time.Time // of the commit; the modification time of all files in archives
	stage   string    // a temporary directory
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "semantic version, without a leading v (required)")
	platforms := flags.String("platforms", everyPlatform, "what to build for, as os/arch, comma-separated")
	wheels := flags.Bool("wheels", false, "build a Python wheel with the programs for each platform; needs python3 with pip")
	out := flags.String("out", "", "where to write; default dist in the repository, emptied first")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !semantic.MatchString(*version) {
		return fmt.Errorf("-version %q is not a semantic version such as 1.2.3", *version)
	}
	r := release{version: *version}
	if err := r.locate(ctx, *out); err != nil {
		return err
	}
	if *wheels {
		if err := r.checkPython(); err != nil {
			return err
		}
	}
	var err error
	if r.stage, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.stage)

	completions, err := r.completions(ctx)
	if err != nil {
		return err
	}
	var all []build
	for platform := range strings.SplitSeq(*platforms, ",") {
		began := time.Now()
		b, err := r.build(ctx, platform)
		if err != nil {
			return err
		}
		archive, err := r.archive(b, completions)
		if err != nil {
			return err
		}
		if *wheels {
			if err := r.wheel(ctx, b); err != nil {
				return err
			}
		}
		fmt.Fprintf(stdout, "%s: %.0f s\n", filepath.Base(archive), time.Since(began).Seconds())
		all = append(all, b)
	}
	if err := r.bill(all); err != nil {
		return err
	}
	return r.sum(stdout)
}

// locate finds the repository and empties the output directory.
func (r *release) locate(ctx context.Context, out string) error {
	root, err := checkout.Root(ctx)
	if err != nil {
		return err
	}
	r.root = root
	stamp, err := r.command(ctx, "git", "log", "-1", "--format=%ct %H")
	if err != nil {
		return err
	}
	stamp, r.commit, _ = strings.Cut(stamp, " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("read the date of the commit: %w", err)
	}
	r.date = time.Unix(seconds, 0).UTC()
	if r.out = out; out == "" {
		r.out = filepath.Join(r.root, "dist")
		if err := os.RemoveAll(r.out); err != nil {
			return err
		}
	}
	return os.MkdirAll(r.out, 0o755)
}

// build is the directory of the programs for one platform.
type build struct {
	goos, goarch string
	dir          string
}

func (b build) exe(program string) string {
	if b.goos == "windows" {
		program += ".exe"
	}
	return filepath.Join(b.dir, program)
}

// build builds the programs for a platform, and checks them.
func (r *release) build(ctx context.Context, platform string) (build, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return build{}, fmt.Errorf("-platforms: %q is not os/arch", platform)
	}
	b := build{goos, goarch, filepath.Join(r.stage, goos+"_"+goarch)}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return b, err
	}
	args := []string{
		"build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid= " + strings.Join(r.settings(), " "), "-o", b.dir + string(filepath.Separator),
	}
	for _, program := range programs {
		args = append(args, "./cmd/"+program)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=-mod=readonly")
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("build for %s: %w\n%s", platform, err, out)
	}
	return b, r.check(ctx, b)
}

// settings returns the linker flags that set the version and the commit of the programs.
func (r *release) settings() []string {
	return []string{
		"-X", versionSettings + "release=" + r.version,
		"-X", versionSettings + "commit=" + r.commit,
		"-X", versionSettings + "date=" + r.date.Format(time.RFC3339),
	}
}

// check checks that the programs are static and for the right platform, and, if they can run here,
// that they report the right version.
func (r *release) check(ctx context.Context, b build) error {
	for _, program := range programs {
		info, err := readInfo(b.exe(program))
		if err != nil {
			return err
		}
		for key, want := range map[string]string{"CGO_ENABLED": "0", "GOOS": b.goos, "GOARCH": b.goarch} {
			if info.settings[key] != want {
				return fmt.Errorf("%s for %s/%s was built with %s=%s", program, b.goos, b.goarch, key, info.settings[key])
			}
		}
		if b.goos != runtime.GOOS || b.goarch != runtime.GOARCH {
			continue
		}
		got, err := r.command(ctx, b.exe(program), "--version")
		if err != nil {
			return err
		}
		if number, _, _ := strings.Cut(got, " "); number != r.version || !strings.Contains(got, r.commit[:12]) {
			return fmt.Errorf("%s says its version is %q, want %q of commit %q", program, got, r.version, r.commit)
		}
	}
	return nil
}

// completions returns the completion scripts that the programs print.
func (r *release) completions(ctx context.Context) (map[string]string, error) {
	b, err := r.build(ctx, runtime.GOOS+"/"+runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{}
	for _, program := range programs {
		if program == "hook-agent" { // agents call it, not people
			continue
		}
		for _, shell := range shells {
			text, err := r.command(ctx, b.exe(program), "completion", shell)
			if err != nil {
				return nil, err
			}
			scripts["completions/"+program+"."+shell] = text + "\n"
		}
	}
	return scripts, nil
}

// command runs a command in the repository and returns its output.
func (r *release) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("run %s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
