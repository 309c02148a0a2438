package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// process is a child process of the bench: this program in another role.
type process struct {
	role  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string // of the standard output; closed at its end
}

// start runs a role and waits until it is ready. It returns the text that the role reported. The
// standard error, where a router writes a line for each event, goes to logs; nil discards it.
func start(ctx context.Context, role string, logs *os.File, args ...string) (*process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("find this program: %w", err)
	}
	// Not killed when ctx ends, since the processes are stopped in order.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, append([]string{"-role", role}, args...)...)
	if logs != nil {
		cmd.Stderr = logs
	}
	p := &process{role: role, cmd: cmd, lines: make(chan string, 4)}
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, "", fmt.Errorf("start %s: %w", role, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("start %s: %w", role, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("start %s: %w", role, err)
	}
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.lines <- in.Text()
		}
	}()
	text, err := p.expect("ready ")
	if err != nil {
		p.stop()
		return nil, "", err
	}
	return p, text, nil
}

// expect waits for the next line, which must have the prefix.
func (p *process) expect(prefix string) (string, error) {
	select {
	case line, ok := <-p.lines:
		if text, found := strings.CutPrefix(line, prefix); ok && found {
			return text, nil
		}
		return "", fmt.Errorf("%s says %q: %q was expected", p.role, line, prefix)
	case <-time.After(30 * time.Second):
		return "", fmt.Errorf("%s says nothing", p.role)
	}
}

// order sends an order to the process and waits for its answer.
func (p *process) order(text string) (answer string, err error) {
	if _, err := fmt.Fprintln(p.stdin, text); err != nil {
		return "", fmt.Errorf("order %s: %w", p.role, err)
	}
	return p.expect("done ")
}

// stop ends the process by closing its standard input. After five seconds, it kills it.
func (p *process) stop() {
	_ = p.stdin.Close()
	end := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer end.Stop()
	for range p.lines { // drain before Wait
	}
	_ = p.cmd.Wait()
}
