package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// The size of the terminal.
const columns, rows = 80, 40

// session is a router with a policy, and the recorded lines of a terminal.
type session struct {
	home  string
	env   []string
	up    *exec.Cmd
	lines []line
	token string // of the console
}

func newSession(home string) (*session, error) {
	s := &session{home: home, token: "recording-" + strings.Repeat("0", 32)}
	s.env = []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "SSH_CONNECTION=none",
	}
	return s, os.MkdirAll(filepath.Join(home, "shop"), 0o700)
}

// command returns the command that runs a shell command line on a terminal.
func (s *session) command(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "script", "-qefc", fmt.Sprintf("stty cols %d rows %d; exec %s", columns, rows, text), "/dev/null")
	cmd.Env, cmd.Dir = s.env, filepath.Join(s.home, "shop")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

var (
	secret = regexp.MustCompile(`#token=\S+`)
	took   = regexp.MustCompile(`after \d+ ms`)
)

// show adds a typed command and the output of the program.
func (s *session) show(typed, said string) {
	prompt := "$ "
	for text := range strings.SplitSeq(typed, "\n") {
		s.lines = append(s.lines, line{typed: true, parts: []part{{text: prompt, class: "d"}, {text: text, class: "b"}}})
		prompt = "> "
	}
	for text := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(said, "\r", ""), "\n"), "\n") {
		s.lines = append(s.lines, line{parts: parse(secret.ReplaceAllString(text, "#token=…"))})
	}
	s.lines = append(s.lines, line{})
}

// call is the tool call of the agent in the recording.
const call = `hookctl execute tool:pre \
  '{"tool_name":"Read","tool_input":{"file_path":"~/.ssh/id_rsa"}}'`

// play records the session.
func (s *session) play(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	for _, typed := range []string{call, "hookctl why"} {
		out, err := s.command(ctx, typed).Output()
		if len(out) == 0 {
			return fmt.Errorf("%s said nothing: %w", typed, err) // an exit code alone is not an error: a denial has one
		}
		s.show(typed, string(out))
	}
	return nil
}

// start starts the router, and shows its output until it is up.
func (s *session) start(ctx context.Context) error {
	s.up = s.command(ctx, "hook-router up --no-browser 2>/dev/null")
	out, err := s.up.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.up.Start(); err != nil {
		return err
	}
	var said strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if m := secret.FindString(lines.Text()); m != "" {
			s.token = strings.TrimPrefix(m, "#token=")
		}
		if strings.Contains(lines.Text(), "hookctl why") {
			s.show("hook-router up", said.String())
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
	}
	return fmt.Errorf("hook-router up ended: are its ports free? It said: %s", said.String())
}

func (s *session) close() {
	if s.up != nil && s.up.Process != nil {
		_ = s.up.Cancel()
		_ = s.up.Wait()
	}
}

// asked is a tool call that a person must decide on.
const asked = `{"session_id":"checkout","tool_name":"Edit","cwd":"/home/ann/shop","tool_input":{"file_path":"/srv/shop/deploy.yaml",` +
	`"old_string":"service: shop\nreplicas: 3\nimage: shop:1.8.2\nstrategy: rolling\nhealth: /readyz\n",` +
	`"new_string":"service: shop\nreplicas: 1\nimage: shop:1.9.0\nstrategy: recreate\nhealth: /readyz\n"}}`

// screenshot returns a screenshot of the console with the approval request for asked.
func (s *session) screenshot(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	waiting := exec.CommandContext(ctx, "hookctl", "execute", "tool:pre", asked)
	waiting.Path, waiting.Env = filepath.Join(s.home, "bin", "hookctl"), s.env
	waiting.Err = nil
	if err := waiting.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = waiting.Process.Kill(); _ = waiting.Wait() }()
	if err := s.untilAsked(ctx); err != nil {
		return nil, err
	}
	file := filepath.Join(s.home, "approval.png")
	chromium := exec.CommandContext(ctx, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-dark-mode=0",
		"--user-data-dir="+filepath.Join(s.home, "chromium"), "--window-size=900,760", "--virtual-time-budget=20000", "--screenshot="+file,
		"http://127.0.0.1:8080/#token="+s.token)
	chromium.Env = s.env
	if out, err := chromium.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("take the screenshot: %w\n%s", err, out)
	}
	return os.ReadFile(file)
}

// untilAsked waits for the approval request.
func (s *session) untilAsked(ctx context.Context) error {
	for ctx.Err() == nil {
		list := exec.CommandContext(ctx, filepath.Join(s.home, "bin", "hookctl"), "approvals", "--json")
		list.Env = s.env
		if out, err := list.Output(); err == nil && strings.Contains(string(out), "/srv/shop") {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("nobody was asked: %w", ctx.Err())
}
