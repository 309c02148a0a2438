package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
)

// patience bounds one test.
const patience = 15 * time.Second

// try runs hook-agent with the probe, as the agent does for an event. reason says why hook-agent
// blocks, and is empty if it lets the probe pass. meanwhile runs before the probe is complete.
func (h hooks) try(ctx context.Context, meanwhile func(pid int) error, flags ...string) (reason string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := slices.Concat(h.args, []string{"--timeout=" + (patience / 2).String()}, flags, []string{h.target.dialect, agenthook.Probe})
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, h.program, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	stdin, err := c.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", fmt.Errorf("hook-agent can't be started: %w", err)
	}
	if meanwhile != nil {
		err = meanwhile(c.Process.Pid)
	}
	_, _ = stdin.Write([]byte(`{"session_id":"hookctl-doctor"}`)) // the output is checked below
	_ = stdin.Close()
	ended := c.Wait()
	if err != nil {
		return "", err
	}
	if ended != nil || stdout.Len() == 0 {
		if code := c.ProcessState.ExitCode(); code != 0 && code != agenthook.CodeBlock {
			return "", fmt.Errorf("hook-agent failed: %w: %s", ended, strings.TrimSpace(stderr.String()))
		}
		return strings.TrimSpace(stderr.String()), nil
	}
	var said map[string]string // the probe's answer has only strings
	if err := json.Unmarshal(stdout.Bytes(), &said); err != nil {
		return "", fmt.Errorf("hook-agent's answer can't be read: %w", err)
	}
	for _, member := range []string{"reason", "deny"} {
		if said[member] != "" {
			return said[member], nil
		}
	}
	return "", nil
}

// ofProject reports whether a configuration belongs to a project, where others than the user may
// have written it.
func (t target) ofProject(path, home string) bool {
	file, err := filepath.Abs(t.paths[project])
	return err == nil && t.paths[project] != "" && filepath.Dir(path) == filepath.Dir(file) && file != filepath.Join(home, t.paths[user])
}

// isOurs reports whether a program is the hook-agent next to this executable, or one in a PATH
// directory outside the working directory. Tools put project directories into PATH.
func isOurs(program, path string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !filepath.IsAbs(program) {
		return false
	}
	var dirs []string
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
	}
	for _, dir := range filepath.SplitList(path) {
		if !isBelow(dir, ".") {
			dirs = append(dirs, dir)
		}
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		one, err := filepath.EvalSymlinks(filepath.Join(dir, "hook-agent"))
		return filepath.IsAbs(dir) && err == nil && one == real
	})
}

// isBelow reports whether a directory is, or is inside, another directory, under any of its names.
func isBelow(dir, other string) bool {
	above, err1 := os.Stat(other)
	dir, err2 := filepath.EvalSymlinks(dir)
	for err1 == nil && err2 == nil {
		at, err := os.Stat(dir)
		up := filepath.Dir(dir)
		switch {
		case err == nil && os.SameFile(at, above):
			return true
		case up == dir:
			return false
		}
		dir = up
	}
	return false
}

// killChild kills hook-agent's child process, which calls the router.
func killChild(pid int) error {
	for range 400 {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		if err != nil || len(files) == 0 {
			break
		}
		for _, f := range files {
			children, _ := os.ReadFile(f) // fails if the thread is gone
			for child := range strings.FieldsSeq(string(children)) {
				name, _ := os.ReadFile("/proc/" + child + "/cmdline")
				if !strings.HasPrefix(string(name), supervisor.ChildName+"\x00") {
					continue
				}
				n, _ := strconv.Atoi(child) // always a process id
				p, err := os.FindProcess(n)
				if err != nil {
					return err
				}
				return p.Kill()
			}
		}
		<-time.After(5 * time.Millisecond)
	}
	return errors.New("the process can't be found on this system")
}

// inPlugin returns the flags with which connect created the OpenCode plug-in.
func inPlugin(text string) (h hooks, ok bool) {
	program, args := pluginOf(text)
	h.program, ok = program, program != ""
	if h.args = args; len(args) > 1 {
		h.args = args[:len(args)-2] // drop the timeout and the agent
	}
	return h, ok
}

// pluginOf returns the program and the arguments that the OpenCode plug-in starts.
func pluginOf(text string) (program string, args []string) {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "const program = "); is {
			_ = json.Unmarshal([]byte(value), &program) // stays empty if invalid
		}
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "const args = "); is {
			_ = json.Unmarshal([]byte(value), &args)
		}
	}
	return program, args
}
