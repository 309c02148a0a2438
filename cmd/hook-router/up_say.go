package main

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/version"
)

// ready prints what runs and what to do next, and opens the console in a browser.
func (w *policyWorker) ready(ctx context.Context, stdout io.Writer, n *server.Server, s served, began time.Time, log *slog.Logger) {
	fmt.Fprintf(stdout, "hook-router %s is up after %d ms\n  policy   %s, %s\n  NATS     %s\n",
		version.Number(), time.Since(began).Milliseconds(), cmp.Or(w.up.Policy, "the starter policy for coding agents"), term.Plural(s.hooks, "hook"), n.ClientURL())
	console := w.up.Router.consoleURL(n)
	if console != "" {
		fmt.Fprintf(stdout, "  console  %s\n", console)
	}
	if len(s.leftovers) > 0 {
		const indent = "           "
		note := "guards of another policy deny until their workers run, or until hookctl hook rm ID ...: " + strings.Join(s.leftovers, ", ")
		fmt.Fprintf(stdout, "  note     %s\n", strings.Join(term.Wrap(note, term.Columns-len(indent)), "\n"+indent))
	}
	fmt.Fprint(stdout, "\nNext, in another terminal:\n")
	if n.ClientURL() != "nats://127.0.0.1:4222" {
		fmt.Fprintf(stdout, "  export NATS_URL=%s\n", natsx.RedactURL(n.ClientURL()))
	}
	fmt.Fprint(stdout, `  hookctl connect claude-code  put an agent behind it (hookctl connect: others)
  hookctl watch                see verdicts (hookctl approvals watch: decide)
  hookctl why                  tell why the last call was denied
`)
	file, ok := stdout.(*os.File)
	if console == "" || w.up.NoBrowser || w.up.Router.ConsoleToken != "" || !ok || !term.IsTerminal(file) {
		return
	}
	if program := browser(runtime.GOOS, os.Getenv); program != nil {
		if err := openPage(ctx, program, console, w.up.Router.StoreDir); err != nil {
			log.Debug("no browser opened", "error", err)
		}
	}
}

// browser returns the command that opens a page on the user's desktop; nil without a desktop: on
// a server, or over ssh.
func browser(system string, getenv func(string) string) []string {
	if getenv("SSH_CONNECTION") != "" || getenv("CI") != "" {
		return nil
	}
	switch {
	case system == "darwin":
		return []string{"open"}
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}

// pageLives is how long a browser has to read the redirecting page.
const pageLives = 15 * time.Second

// openPage opens an address that contains a token. Command lines are visible to all users, and so
// to agents that must not get the token. So the browser opens a temporary file, readable only by
// its owner, that redirects to the address.
func openPage(ctx context.Context, program []string, address, dir string) error {
	file, err := filepath.Abs(filepath.Join(dir, "console.html"))
	if err != nil {
		return fmt.Errorf("open the console: %w", err)
	}
	_ = os.Remove(file)
	text := fmt.Sprintf("<!doctype html><meta http-equiv=refresh content=\"0;url=%[1]s\"><a href=\"%[1]s\">Console</a>\n", html.EscapeString(address))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("open the console: %w", err)
	}
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(pageLives):
		}
		_ = os.Remove(file)
	}()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], file)...) // the browser outlives this program
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open the console: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
