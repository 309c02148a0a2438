package agents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Isolation isolates processes from the network. The zero Isolation does not isolate them.
type Isolation struct {
	unshare []string // the command that starts another one in its own network namespace
}

// pids are the flags of unshare for a separate PID namespace, whose processes are killed with the
// command.
var pids = []string{"--pid", "--fork", "--kill-child", "--mount-proc"}

// loopback is a shell script that enables loopback and runs its arguments.
const loopback = `ip link set lo up && exec "$@"`

// NewIsolation returns an isolation that this user is permitted to use. The error says why there is
// none.
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

// Isolated reports whether processes are isolated.
func (i Isolation) Isolated() bool { return i.unshare != nil }

// Command returns the command line that runs a command in isolation.
func (i Isolation) Command(args ...string) []string {
	if !i.Isolated() {
		return args
	}
	return append(append(append([]string{}, i.unshare...), "--", "sh", "-c", loopback, "sh"), args...)
}

// deadProxy is a proxy address at which no program listens.
const deadProxy = "http://127.0.0.1:9"

// proxies returns the proxy variables for an agent that is not isolated.
func proxies() []string {
	return []string{
		"HTTP_PROXY=" + deadProxy, "HTTPS_PROXY=" + deadProxy, "ALL_PROXY=" + deadProxy, "NO_PROXY=127.0.0.1,localhost",
		"http_proxy=" + deadProxy, "https_proxy=" + deadProxy, "all_proxy=" + deadProxy, "no_proxy=127.0.0.1,localhost",
	}
}

// inside is the variable that [Isolation.Again] sets in the environment of its process.
const inside = "HOOKROUTER_TEST_INSIDE"

// Inside reports whether [Isolation.Again] started this process.
func Inside() bool { return os.Getenv(inside) != "" }

// Cut reports whether this process is isolated.
func Cut() bool { return os.Getenv(inside) == "cut off" }

// Again runs this program again, isolated if possible, and returns its exit code.
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
