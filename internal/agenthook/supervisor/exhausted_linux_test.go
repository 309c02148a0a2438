package supervisor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// denying is a router with a hook that denies everything: what passes has not asked it.
func denying(t *testing.T) (url string) {
	t.Helper()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	w := natstest.Worker(t, natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	guard := worker.Registration{ID: "guard", Events: []string{"*"}}
	if _, err := w.Register(t.Context(), guard, func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("NO") }); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL()
}

// in runs the program from a shell's script, which has its command line as arguments.
func in(t *testing.T, script string, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh"}, c.Args...)...)
	shell.Stdin, shell.Env = c.Stdin, c.Env
	return shell
}

// denied reports whether an answer blocks, in words or with the code that all agents obey.
func denied(o outcome) bool {
	if o.code == 2 {
		return o.stderr != ""
	}
	return o.code == 0 && json.Valid([]byte(o.stdout)) && strings.Contains(o.stdout, `"permissionDecision":"deny"`)
}

// With less and less memory, hook-agent blocks: it never lets an agent go on. With less than
// that it does not start, and what follows is up to the agent, as where it is killed.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	testkit.From(t, testkit.CI)
	url := denying(t)
	for _, flag := range []string{"--supervise=true", "--supervise=false"} {
		asked, crashed, unstarted := 0, 0, 0
		for kb := 2_000_000; kb > 10_000; kb = kb * 19 / 20 {
			o := run(t, in(t, fmt.Sprintf(`ulimit -c 0; ulimit -v %d; exec "$@"`, kb), hookAgent(t, url, flag, "claude-code")))
			switch {
			case kb < 64_000 && (o.code == -1 || o.code == 127): // a signal, or the loader where the program is not static
				unstarted++
			case !denied(o):
				t.Errorf("%s with %d KB: %+v; want a block", flag, kb, o)
			case o.code == 0:
				asked++
			default:
				crashed++
			}
		}
		t.Logf("%s: %d said no, %d crashed with the code that blocks, %d did not start", flag, asked, crashed, unstarted)
		if asked == 0 || crashed == 0 {
			t.Errorf("%s: the limits do not reach from enough to too little", flag)
		}
	}
}

// With less and less memory, an answer of the router of this user is whole, or it blocks.
func TestOutOfMemoryBesideTheRouter(t *testing.T) {
	t.Parallel()
	testkit.From(t, testkit.CI)
	const no = `{"hookSpecificOutput":{"permissionDecision":"deny"}}`
	o := startOwn(t, func(x *exchange) { x.accept("5000"); x.answer("0", "", no) })
	answered, blocked := 0, 0
	for kb := 2_000_000; kb > 10_000; kb = kb * 19 / 20 {
		c := in(t, fmt.Sprintf(`ulimit -c 0; ulimit -v %d; exec "$@"`, kb), o.agent(t, "claude-code"))
		switch got := run(t, c); {
		case got.code == 0 && got.stdout == no:
			answered++
		case denied(got):
			blocked++
		case kb >= 64_000 || got.code != -1 && got.code != 127: // below, a signal: it did not start
			t.Errorf("with %d KB: %+v; want a block", kb, got)
		}
	}
	t.Logf("%d answered, %d blocked", answered, blocked)
	if answered == 0 || blocked == 0 {
		t.Error("the limits do not reach from enough to too little")
	}
}

// onFullDisk is a script that has a home, and a place for other files, on a disk that is full.
const onFullDisk = `mount -t tmpfs -o size=64k,mode=0777 none "$HOME" || exit 99
head -c 1000000 /dev/zero > "$HOME/full" 2>&- ; TMPDIR=$HOME exec "$@"`

func TestFullDisk(t *testing.T) {
	t.Parallel()
	testkit.From(t, testkit.CI)
	namespace := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		namespace = append(namespace, "--map-root-user")
	}
	if out, err := exec.CommandContext(t.Context(), namespace[0], slices.Concat(namespace[1:], []string{"true"})...).CombinedOutput(); err != nil {
		t.Skipf("this user may mount nothing here: %v %s", err, out)
	}
	url := denying(t)
	for name, test := range map[string]struct {
		args []string
		url  string
		want func(o outcome) bool
	}{
		"a router":  {[]string{"claude-code"}, url, func(o outcome) bool { return denied(o) && strings.Contains(o.stdout, "NO") }},
		"no router": {[]string{"--patience=1ms", "claude-code"}, "nats://127.0.0.1:1", denied},
		"allowed, and told that nobody will hear of it": {
			[]string{"--patience=1ms", "--on-unreachable=allow", "claude-code"},
			"nats://127.0.0.1:1",
			func(o outcome) bool {
				return o.code == 0 && !denied(o) && strings.Contains(o.stdout, "can't be reported later") && strings.Contains(o.stdout, "no space left")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			shell := in(t, onFullDisk, hookAgent(t, test.url, test.args...))
			c := exec.CommandContext(t.Context(), namespace[0], slices.Concat(namespace[1:], shell.Args)...)
			c.Stdin, c.Env = shell.Stdin, shell.Env
			if o := run(t, c); !test.want(o) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// An answer that can't be written blocks, whatever becomes of the standard output.
func TestAnswerCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a full disk":       `exec "$@" > /dev/full`,
		"closed":            `exec "$@" >&-`,
		"thrown away":       `exec "$@" > /dev/null`,
		"nobody reads":      `mkfifo "$HOME/p"; exec 3<>"$HOME/p" 4>"$HOME/p" 3<&-; exec "$@" >&4 4>&-`,
		"all closed but in": `exec "$@" >&- 2> "$HOME/said"`,
	} {
		for _, flag := range []string{"--supervise=true", "--supervise=false"} {
			t.Run(name+" "+flag, func(t *testing.T) {
				t.Parallel()
				o := run(t, in(t, script, hookAgent(t, "nats://127.0.0.1:1", flag, "--patience=1ms", "claude-code")))
				if o.code != 2 || name != "all closed but in" && !denied(o) {
					t.Errorf("%+v; want a block", o)
				}
			})
		}
	}
}
