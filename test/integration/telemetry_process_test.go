package integration

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// loggedRouter starts a hook-router that traces, and whose log is kept.
func loggedRouter(t *testing.T, program string) (*testkit.Process, *nats.Conn, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	cmd := exec.Command(program, "--http-listen=127.0.0.1:0", "--nats-listen=127.0.0.1:0", "--store-dir="+natstest.StoreDir(t), "--auth=off") //nolint:noctx // it is ended by a signal
	cmd.Dir, cmd.Stderr = t.TempDir(), log
	cmd.Env = append(cmd.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+collector(t, false))
	p := started(t, cmd, "health", nil)
	nc := natstest.Dial(t, find(t, `NATS\s+(\S+)`, p.Stdout()), nats.NoReconnect())
	return p, nc, log
}

// logLine is a line of a router's log.
type logLine struct {
	Level, Msg, Event, Hook string
	Trace                   string `json:"trace_id"`
	Span                    string `json:"span_id"`
}

func readLog(t *testing.T, log *lockedBuffer) (list []logLine) {
	t.Helper()
	text := log.String()
	for line := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		list = append(list, decode[logLine](t, []byte(line)))
	}
	return list
}

func count(list []logLine, is func(logLine) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// Standard error has JSON, one line at info for each event that is denied,
// which names its trace, and none for others; SIGUSR1 turns debug lines on and off while the router runs.
func TestWhatARouterLogs(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 60*time.Second)
	p, nc, log := loggedRouter(t, testkit.Program(t, "hook-router"))
	isEvent := func(l logLine) bool { return l.Msg == "event denied" }
	isAllowed := func(l logLine) bool { return l.Msg == "event" && l.Level == "DEBUG" }
	registered := func(id string) func(logLine) bool {
		return func(l logLine) bool { return l.Msg == "hook registered" && l.Hook == id && l.Level == "DEBUG" }
	}
	hook(t, ctx, nc, "quiet", `{"events":["tool:pre"]}`, says(`{"action":"deny"}`))
	for n := range 5 {
		request(t, ctx, nc, "hooks.emit.tool.post", nil, `{}`)
		request(t, ctx, nc, "hooks.emit.tool.pre", nats.Header{"traceparent": {traceparent}}, `{}`)
		testkit.Until(t, ctx, "the event is logged", func() bool { return count(readLog(t, log), isEvent) == n+1 })
	}
	for _, l := range readLog(t, log) {
		if isEvent(l) && (l.Level != "INFO" || l.Event != "tool:pre" || l.Trace != theirTrace || len(l.Span) != 16) {
			t.Errorf("an event's line is %+v", l)
		}
		if l.Level == "DEBUG" {
			t.Errorf("at info there is the line %+v", l)
		}
	}
	changed := func(n int) {
		t.Helper()
		if err := p.Cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		testkit.Until(t, ctx, "the level is changed", func() bool {
			return count(readLog(t, log), func(l logLine) bool { return strings.Contains(l.Msg, "changed by a signal") }) == n
		})
	}
	changed(1)
	hook(t, ctx, nc, "loud", `{"events":["*"]}`, says(`{}`))
	request(t, ctx, nc, "hooks.emit.tool.post", nil, `{}`)
	testkit.Until(t, ctx, "the event that went on is told", func() bool { return count(readLog(t, log), isAllowed) == 1 })
	testkit.Until(t, ctx, "the registration is told", func() bool { return count(readLog(t, log), registered("loud")) == 1 })
	if m := request(t, ctx, nc, "hooks.unregister.loud", nil, `{}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	testkit.Until(t, ctx, "the removal is told", func() bool {
		return count(readLog(t, log), func(l logLine) bool { return l.Msg == "hook removed" && l.Hook == "loud" && l.Level == "DEBUG" }) == 1
	})
	changed(2)
	hook(t, ctx, nc, "late", `{"events":["*"]}`, says(`{}`))
	request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{}`)
	testkit.Until(t, ctx, "the event is logged", func() bool { return count(readLog(t, log), isEvent) == 6 })
	if list := readLog(t, log); count(list, registered("late")) != 0 || count(list, registered("quiet")) != 0 {
		t.Errorf("debug lines stand there at info:\n%s", log)
	}
	if err := p.End(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
