package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// toolCall is the hook input of Claude Code before it runs a harmless command.
const toolCall = `{"session_id":"s","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"}}`

// hookAgent measures how long a coding agent waits for hook-agent, from start to exit, with a
// router of the same user that has the starter policy and a strict audit log. It alternates with an
// empty Go program.
func (b *bench) hookAgent(ctx context.Context) error {
	runs := 300
	if b.short {
		runs = 40
	}
	empty := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return fmt.Errorf("write an empty program: %w", err)
	}
	for _, program := range []string{"hook-router", "hook-agent", empty} {
		source := program
		if program != empty {
			source = "github.com/hookrouter/hookrouter/cmd/" + program
		}
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.program(program), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s (run the bench inside the module): %w\n%s", program, err, out)
		}
	}
	url, stop, err := b.serveHookAgents(ctx)
	if err != nil {
		return err
	}
	defer stop()
	commands := map[string][]string{
		"empty": {b.program(empty)},
		"local": {b.program("hook-agent"), "--server=" + url, "claude-code"},
		// This flag is supported only by the second process.
		"nats": {b.program("hook-agent"), "--server=" + url, "--prefix=hooks", "claude-code"},
	}
	took := map[string][]float64{}
	for range runs {
		for name, command := range commands {
			d, err := b.answerOnce(ctx, command)
			if err != nil {
				return err
			}
			took[name] = append(took[name], d.Seconds()*1e3)
		}
	}
	floor := median(took["empty"])
	b.report.add(figure{
		Name: "hook-agent, from start to exit, with the starter policy", Unit: "ms", Value: median(took["local"]), Most: 15,
		Note: fmt.Sprintf("p50 of %d; over NATS: %.1f", runs, median(took["nats"])),
	})
	b.report.add(figure{
		Name: "the same over an empty program", Unit: "ms", Value: median(took["local"]) - floor, Most: 5,
		Note: fmt.Sprintf("which takes %.1f; over NATS: %.1f", floor, median(took["nats"])-floor),
	})
	return nil
}

// program returns the path of a built program.
func (b *bench) program(name string) string {
	return filepath.Join(b.dir, "bin", strings.TrimSuffix(filepath.Base(name), ".go"))
}

// home returns an environment in which programs keep their files in the directory of the bench.
func (b *bench) home() []string {
	return []string{"HOME=" + b.dir, "PATH=" + os.Getenv("PATH")}
}

// serveHookAgents starts a router with the starter policy, and returns when it permits a call.
func (b *bench) serveHookAgents(ctx context.Context) (url string, stop func(), err error) {
	natsAddr, httpAddr, err := freePorts()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, b.program("hook-router"), "up", "--no-browser", "--nats-listen", natsAddr, "--http-listen", httpAddr,
		"--store-dir", filepath.Join(b.dir, "up"))
	cmd.Env, cmd.Dir = b.home(), b.dir
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start hook-router: %w", err)
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		end := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		end.Stop()
	}
	url = "nats://" + natsAddr
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err = b.answerOnce(ctx, []string{b.program("hook-agent"), "--server=" + url, "--patience=1ms", "claude-code"}); err == nil {
			return url, stop, nil
		}
		if time.Since(began) > 20*time.Second || ctx.Err() != nil {
			stop()
			return "", nil, fmt.Errorf("hook-router up permits nothing: %w\n%s", err, &log)
		}
	}
}

var errBlocked = errors.New("it says")

// answerOnce runs a command as an agent runs its hook, and returns its duration. If the command
// does not permit the call, the error contains its output.
func (b *bench) answerOnce(ctx context.Context, command []string) (time.Duration, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env, c.Stdin = b.home(), strings.NewReader(toolCall)
	began := time.Now()
	out, err := c.CombinedOutput()
	took := time.Since(began)
	if err != nil || len(out) > 0 {
		return 0, fmt.Errorf("%s: %w: %s", filepath.Base(command[0]), cmp.Or(err, errBlocked), out)
	}
	return took, nil
}
