package agents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Prepare writes the files that the agent needs in its home.
func (a Agent) Prepare(r Run) error {
	if a.Files == nil {
		return nil
	}
	for name, text := range a.Files(r) {
		path := filepath.Join(r.Home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Command returns the command that starts the agent installed in a directory. Its processes end
// with ctx or with the agent. They inherit only PATH from this process' environment.
func (a Agent) Command(ctx context.Context, installed string, r Run) *exec.Cmd {
	var line []string
	for _, word := range a.Program {
		if strings.HasPrefix(word, "node_modules/") {
			word = filepath.Join(installed, word)
		}
		line = append(line, word)
	}
	line = append(line, a.Args(r)...)
	if Cut() {
		line = append(append([]string{"unshare"}, pids...), append([]string{"--"}, line...)...)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = r.Dir
	cmd.Env = append([]string{
		"HOME=" + r.Home, "TMPDIR=" + r.Temp, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8",
	}, a.Env(r)...)
	if !Cut() {
		cmd.Env = append(cmd.Env, proxies()...)
	}
	asGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
