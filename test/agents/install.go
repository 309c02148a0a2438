package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoNpm means that npm is not installed.
var ErrNoNpm = errors.New("no agent can be installed: npm is not in PATH")

// Installed returns the directory of the agent's version in the user's cache, and whether it is
// installed.
func (a Agent) Installed() (dir string, ok bool, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false, fmt.Errorf("find the user's cache: %w", err)
	}
	dir = filepath.Join(cache, "hookrouter-test", "agents", a.Name+"-"+a.Version)
	_, err = os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, false, nil
	}
	return dir, err == nil, err
}

// Install installs an agent with npm, unless it is already installed. It runs no package scripts.
func Install(ctx context.Context, a Agent) (dir string, err error) {
	dir, ok, err := a.Installed()
	if ok || err != nil {
		return dir, err
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("install %s: the table has packages for linux/amd64 only", a.Name)
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", ErrNoNpm
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	own, err := os.MkdirTemp(filepath.Dir(dir), "installing-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(own) }() // no-op after the rename
	if err := os.WriteFile(filepath.Join(own, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
		return "", err
	}
	args := []string{
		"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error",
		"--fetch-retry-maxtimeout=10000", "--prefix", own,
	}
	for _, p := range a.Install {
		args = append(args, strings.ReplaceAll(p, "VERSION", a.Version))
	}
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = own
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s %s: npm could not get it from its registry, which may be away or have another version: %w\n%s", a.Name, a.Version, err, out[:min(len(out), 400)])
	}
	return dir, os.Rename(own, dir)
}
