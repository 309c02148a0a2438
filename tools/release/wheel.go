package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// wheelPlatforms are the platform tags of wheels. The programs are static, so they run with any C
// library.
var wheelPlatforms = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

var pythonVersion = regexp.MustCompile(`(?m)^__version__ = "([^"]*)"$`)

// checkPython checks that the Python package has the version of the release.
func (r *release) checkPython() error {
	file := filepath.Join(r.root, "clients", "python", "src", "hookrouter", "__init__.py")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if m := pythonVersion.FindSubmatch(text); m == nil || string(m[1]) != r.version {
		return fmt.Errorf("the Python package has another version: set __version__ in %s to %q", file, r.version)
	}
	return nil
}

// wheel builds the Python package with the programs for a platform, and checks it.
func (r *release) wheel(ctx context.Context, b build) error {
	platform, ok := wheelPlatforms[b.goos+"/"+b.goarch]
	if !ok {
		return fmt.Errorf("pip has no name for %s/%s", b.goos, b.goarch)
	}
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir", "--wheel-dir", r.out, "./clients/python")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "HOOKROUTER_PROGRAMS="+b.dir, "HOOKROUTER_PLATFORM="+platform, "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.date.Unix(), 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the wheel for %s/%s: %w\n%s", b.goos, b.goarch, err, out)
	}
	return r.checkWheel(b)
}
