package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/mcpproxy"
	"github.com/hookrouter/hookrouter/internal/version"
)

// token matches the name of a header.
var token = regexp.MustCompile("^[A-Za-z0-9-]+$")

const mcpUsage = `Usage: hook-agent mcp-proxy [flags] -- SERVER [ARGUMENT…]
       hook-agent mcp-proxy [flags] --url URL

Stands before a server of the Model Context Protocol: the hook router decides
about each tool call, and about its result. Where it can't be asked, the call
does not run.

`

// serveMCP runs hook-agent mcp-proxy. It returns the exit code of the server.
func serveMCP(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, stderr *os.File) int {
	var o mcpproxy.Options
	var ask agenthook.Options
	err := parseMCP(&o, &ask, args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "hook-agent mcp-proxy:", err)
		return agenthook.CodeBlock
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // so that a write fails instead; if it were ignored, the server would inherit that
	o.Notes, o.Signals = stderr, signals
	gate := agenthook.NewGate("mcp-proxy", ask, stderr)
	p, err := mcpproxy.New(o, gate)
	if err != nil {
		fmt.Fprintln(stderr, "hook-agent mcp-proxy:", err)
		return agenthook.CodeBlock
	}
	ctx = context.WithoutCancel(ctx) // signals are forwarded to the server
	connecting, stop := context.WithCancel(ctx)
	connected := make(chan struct{})
	go func() {
		defer close(connected)
		_ = gate.Connect(connecting) // an error is reported by the first call
	}()
	code, err := p.Run(ctx, stdin, stdout)
	stop()
	<-connected
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	gate.EndSession(ctx, p.Session())
	if err != nil {
		fmt.Fprintln(stderr, "hook-agent mcp-proxy:", err)
		return agenthook.CodeBlock
	}
	return code
}

// parseMCP parses the command line. After --help and --version, it returns flag.ErrHelp.
func parseMCP(o *mcpproxy.Options, ask *agenthook.Options, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("hook-agent mcp-proxy", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.Name, "name", "", "`name` of the server in the names of its tools, mcp__NAME__tool; default: from the command or the URL")
	flags.StringVar(&o.URL, "url", "", "`address` of a server over streamable HTTP")
	flags.StringVar(&o.Session, "session", "", "`id` of the session; default: a new one")
	flags.Func("header", "`NAME:VALUE` sent with each request to the URL; ${VAR} in it is taken from the environment. May be repeated", func(text string) error {
		name, value, ok := strings.Cut(text, ":")
		if !ok || !token.MatchString(name) {
			return errors.New("it must be NAME:VALUE")
		}
		if o.Header == nil {
			o.Header = http.Header{}
		}
		o.Header.Add(name, strings.TrimSpace(os.Expand(value, os.Getenv)))
		return nil
	})
	unreachable := routerFlags(flags, ask, "`time` that a call, or its result, waits at most; default: as long as a person may take")
	showVersion := flags.Bool("version", false, "print the version")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, mcpUsage)
		showFlags(stdout, flags)
		return err
	case err != nil:
		return fmt.Errorf("%w (see hook-agent mcp-proxy --help)", err)
	case *showVersion:
		fmt.Fprintln(stdout, version.Build())
		return flag.ErrHelp
	}
	if err := complete(ask, unreachable); err != nil {
		return err
	}
	o.Command = flags.Args()
	o.Env = withoutOurs(os.Environ())
	if o.URL == "" {
		o.Cwd, _ = os.Getwd() // empty if the directory was removed
	}
	if o.Name == "" {
		o.Name = mcpproxy.NameOf(o.Command)
		if u, err := url.Parse(o.URL); err == nil && o.URL != "" {
			o.Name = mcpproxy.HostOf(u.Hostname())
		}
	}
	return nil
}

// withoutOurs returns an environment without the variables for the router's address and
// credentials.
func withoutOurs(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(variables, strings.ToUpper(name))
	})
}
