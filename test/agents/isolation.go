package agents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Isolation is how processes are cut off from the network. The zero Isolation does not
// cut them off.
type Isolation struct {
	unshare []string // the command that starts another one with a network of its own
}

// pids start a command with processes of its own, which are killed with it.
var pids = []string{"--pid", "--fork", "--kill-child", "--mount-proc"}

// loopback is a shell's script that starts its arguments with nothing but loopback.
const loopback = `ip link set lo up && exec "$@"`

// NewIsolation finds out what this user may do. The error says why nothing is possible.
func NewIsolation(ctx context.Context) (Isolation, error) {
	var causes []string
	for _, who := range [][]string{nil, {"--map-root-user"}} {
		i := Isolation{append(append([]string{"unshare", "--net"}, who...), pids...)}
		line := i.Command("true")
		out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput()
		if err == nil {
			return i, nil
		}
		causes = append(causes, strings.TrimSpace(fmt.Sprintf("%s: %v %s", strings.Join(i.unshare, " "), err, out)))
	}
	return Isolation{}, fmt.Errorf("no namespaces here: %s", strings.Join(causes, "; "))
}

// Isolated reports whether processes are cut off.
func (i Isolation) Isolated() bool { return i.unshare != nil }

// Command is the command line that starts another one cut off.
func (i Isolation) Command(args ...string) []string {
	if !i.Isolated() {
		return args
	}
	return append(append(append([]string{}, i.unshare...), "--", "sh", "-c", loopback, "sh"), args...)
}

// deadProxy leads whoever honors it nowhere: no program listens at this port.
const deadProxy = "http://127.0.0.1:9"

// proxies are for an agent that is not cut off.
func proxies() []string {
	return []string{
		"HTTP_PROXY=" + deadProxy, "HTTPS_PROXY=" + deadProxy, "ALL_PROXY=" + deadProxy, "NO_PROXY=127.0.0.1,localhost",
		"http_proxy=" + deadProxy, "https_proxy=" + deadProxy, "all_proxy=" + deadProxy, "no_proxy=127.0.0.1,localhost",
	}
}

// inside is set in the environment of a process that is cut off already.
const inside = "HOOKROUTER_TEST_INSIDE"

// Inside reports whether this process has been started by [Isolation.Again].
func Inside() bool { return os.Getenv(inside) != "" }

// Cut reports whether it is cut off.
func Cut() bool { return os.Getenv(inside) == "cut off" }

// Again runs this program once more, cut off where that is possible, and returns its
// exit code.
func (i Isolation) Again(ctx context.Context) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	line := i.Command(append([]string{self}, os.Args[1:]...)...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=exposed")
	if i.Isolated() {
		cmd.Env = append(cmd.Env, inside+"=cut off")
	}
	endWithThis(cmd)
	err = cmd.Run()
	if cmd.ProcessState != nil {
		return cmd.ProcessState.ExitCode(), nil
	}
	return 0, err
}
