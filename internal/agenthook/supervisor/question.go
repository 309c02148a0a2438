package supervisor

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
	"github.com/hookrouter/hookrouter/internal/xdg"
)

// SessionVariables are the environment variables with the session id that agents set for the
// programs they run.
var SessionVariables = [...]string{"CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "AGENT_SESSION_ID"}

// Spool is the name of the file in StateDir with the events that passed without a verdict.
const Spool = "bypassed.jsonl"

// StateDir returns the directory for the state of hook-agent; empty if it can't be determined.
func StateDir(getenv func(string) string) string {
	state := xdg.StateHome(getenv)
	if state == "" {
		return ""
	}
	return filepath.Join(state, "hookrouter", "hook-agent")
}

// unreported reports whether there are stored events that the second process must report.
func unreported(getenv func(string) string) bool {
	dir := StateDir(getenv)
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, Spool))
	return err == nil
}

// LocalName returns the name of the socket on which a router with NATS at a URL listens for
// hook-agents of its own user. It is empty if NATS is not on 127.0.0.1, or if the system does not
// support such sockets.
func LocalName(server string) string {
	if at, ok := strings.CutPrefix(server, "nats://"); ok {
		server = at
	}
	host, port, ok := strings.Cut(server, ":")
	if !ok {
		port = "4222"
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || host != "127.0.0.1" || !localSockets {
		return ""
	}
	return "@hookrouter/" + strconv.Itoa(os.Geteuid()) + "/" + host + ":" + port
}

// question is a question to a router of the same user.
type question struct {
	Exchange
	name   string // the router's socket
	router string // the router's public key
}

// questionOf returns the question for a command line. ok is false if only the second process can
// ask: the command line or a variable has options other than the router's address, the agent and
// the timeouts, or there are no credentials that name the router.
//
// The settings of a project may set environment variables. So if the command line names the server,
// credentials below home take precedence.
func questionOf(args []string, getenv func(string) string, home func() string) (q question, ok bool) {
	line, ok := parse(args[1:])
	if !ok {
		return q, false
	}
	server, rest := line.server, line.operands
	named, below := server != "", ""
	if !named {
		if getenv("NATS_CREDS") != "" || getenv("HOOK_ROUTER_PREFIX") != "" {
			return q, false
		}
		server = getenv("NATS_URL")
	}
	if server == "" {
		server = "127.0.0.1"
	}
	optioned := slices.ContainsFunc(rest, func(operand string) bool { return strings.HasPrefix(operand, "-") })
	if q.name = LocalName(server); q.name == "" || optioned || len(rest) < 1 || len(rest) > 2 || rest[0] == "" || !plain(line.scope+strings.Join(rest, "")) {
		return q, false
	}
	q.Target = "/v1/agents/" + rest[0] + "?event=" + strings.Join(rest[1:], "")
	if line.scope != "" {
		q.Target += "&scope=" + line.scope
	}
	for _, name := range SessionVariables {
		if id := getenv(name); id != "" {
			q.Sessions += name + "=" + id + ","
		}
	}
	if !plain(strings.NewReplacer("=", "", ",", "").Replace(q.Sessions)) || unreported(getenv) {
		return q, false
	}
	if named {
		below = home()
	}
	found, _, err := natscontext.FindBelow(below, getenv, server, "agent")
	if err != nil || found.Creds == "" {
		return q, false
	}
	q.Timeout, q.router, q.Challenge = line.timeout, natscreds.ClaimsOf(found.Creds).Router(), rand.Text()
	return q, q.router != ""
}

// commandLine is what matters of a command line for a router that answers.
type commandLine struct {
	server, timeout, scope string // the timeout is in milliseconds
	operands               []string
}

// parse reads a command line. ok is false if it has other options that matter.
func parse(args []string) (line commandLine, ok bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		args = args[1:]
		if !joined && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch name {
		case "server":
			line.server = value
		case "timeout":
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Millisecond {
				return line, false
			}
			line.timeout = strconv.FormatInt(d.Milliseconds(), 10)
		case "scope":
			line.scope = value
		case "patience", "on-unreachable": // only for a router that does not answer
		default:
			return line, false
		}
	}
	line.operands = args
	return line, true
}

// plain reports whether a text needs no escaping in a request.
func plain(text string) bool {
	return len(text) <= 1024 && strings.Trim(text, "-_.:0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
