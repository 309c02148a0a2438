package integration

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Twenty thousand approval requests are open on one router with its own NATS, first
// without and then with an agent that waits for each: how much memory that takes,
// and how fast an answer is accepted and known to its agent.
func TestManyOpenQuestions(t *testing.T) {
	const residentBelow, answeredWithin, slack = 300 << 10, 10 * time.Millisecond, 10 // slack: other tests run on this machine too
	const atOnce = 64                                                                 // agents that ask at the same time

	t.Setenv("GOGC", "") // the memory is that of a router as it is
	n := testkit.Volume(t, 70, 2000, 20_000)
	r := startRouter(t, testkit.Program(t, "hook-router"), natstest.StoreDir(t), "127.0.0.1:0", "")
	ctx := testkit.Within(t, 10*time.Minute)
	nc := r.conn(t)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"on_failure":"deny"}`,
		says(`{"action":"ask_user","approval_prompt":"May the agent deploy the service to production?","approval_options":["Allow once","Allow always","Deny"],"approval_timeout":3600}`))
	idle := r.Resident(t)

	began := time.Now()
	o := newOnlookers(t, r.conn(t))
	for i := range n + atOnce {
		if i >= atOnce {
			take(t, ctx, o.open)
		}
		if i < n {
			o.send(t, i, "0")
		}
	}
	asking, asked := time.Since(began), r.Resident(t)
	for i := range n {
		o.send(t, i, "90000") // nobody answers it: it waits
		if sent := n + i + 1; sent%500 == 0 || sent == 2*n {
			testkit.Until(t, ctx, "so many agents wait", func() bool { return slices.Equal(slices.Collect(maps.Values(taken(t, nc, 1))), []int{sent}) })
		}
	}
	waiting := r.Resident(t)
	if m := request(t, ctx, nc, "hooks.approvals", nil, `{"limit":1}`); m.Header.Get("Hook-Total") != strconv.Itoa(n) {
		t.Errorf("%s approval requests are open, want %d", m.Header.Get("Hook-Total"), n)
	}

	var accepted, known []time.Duration
	for _, i := range rand.Perm(n)[:min(n, 200)] {
		began := time.Now()
		m := request(t, ctx, nc, "hooks.approve."+o.question(i), nil, `{"option":"Allow once"}`)
		accepted = append(accepted, time.Since(began))
		if code(m) != "" {
			t.Fatal(m.Header)
		}
		told := take(t, ctx, o.told)
		known = append(known, told.at.Sub(began))
		if told.i != i || told.Action != verdict.Continue || told.Approval.Option != "Allow once" {
			t.Fatalf("answered %d, and agent %d was told %+v", i, told.i, told.Verdict)
		}
	}
	mb := func(kb int) float64 { return float64(kb) / 1024 }
	t.Logf("volume: %d approval requests in %d sessions, asked in %v; resident: idle %.0f MB, all asked %.0f MB, an agent waiting for each %.0f MB, after %d answers %.0f MB",
		n, sessions, asking.Round(time.Millisecond), mb(idle), mb(asked), mb(waiting), len(accepted), mb(r.Resident(t)))
	t.Logf("from an answer to its reply: p50 %v, p99 %v; to the agent's verdict: p50 %v, p99 %v",
		quantile(accepted, 50), quantile(accepted, 99), quantile(known, 50), quantile(known, 99))
	if most := max(asked, waiting); most > residentBelow {
		t.Errorf("%d KB are resident", most)
	}
	if quantile(accepted, 50) > answeredWithin || quantile(accepted, 99) > slack*answeredWithin {
		t.Error("answers take too long")
	}
	_ = r.End(t, syscall.SIGKILL)
}

func quantile(times []time.Duration, percent int) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[(len(times)-1)*percent/100].Round(10 * time.Microsecond)
}

// sessions is how many sessions the agents belong to.
const sessions = 300

// onlookers are agents, all on one connection. Each has one event.
type onlookers struct {
	nc    *nats.Conn
	inbox string
	open  chan int  // who was told that its approval request is open
	told  chan told // who was told more
}

// told is what an agent was told.
type told struct {
	i  int
	at time.Time
	verdict.Verdict
}

func newOnlookers(t *testing.T, nc *nats.Conn) *onlookers {
	t.Helper()
	o := &onlookers{nc: nc, inbox: nats.NewInbox(), open: make(chan int, 1024), told: make(chan told, 1024)}
	_, err := nc.Subscribe(o.inbox+".*", func(m *nats.Msg) {
		at := time.Now()
		i, err := strconv.Atoi(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:])
		if err != nil || code(m) != "" {
			t.Errorf("%s: %v", m.Subject, m.Header)
		}
		v, err := verdict.Parse(m.Data)
		if err != nil {
			t.Error(err)
		}
		if v.Action == verdict.Pending {
			o.open <- i
			return
		}
		o.told <- told{i, at, v}
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *onlookers) id(i int) (session, event string) {
	return fmt.Sprintf("session-%d", i%sessions), fmt.Sprintf("event-%d", i)
}

func (o *onlookers) question(i int) string {
	session, event := o.id(i)
	return approval.IDOf("", session, "tool:pre", event)
}

// content is what the agents want to write.
var content = strings.Repeat("a line of the file\\n", 20)

// send sends the event of one agent, again where it was sent before.
func (o *onlookers) send(t *testing.T, i int, wait string) {
	t.Helper()
	session, event := o.id(i)
	m := nats.NewMsg("hooks.execute.tool.pre")
	m.Reply = fmt.Sprintf("%s.%d", o.inbox, i)
	m.Header = nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {event}, "ce-source": {"/agent"}, "ce-type": {"tool:pre"}, "ce-subject": {session},
		"Hook-Wait-Ms": {wait}, "Hook-Retry": {"1"},
	}
	m.Data = fmt.Appendf(nil, `{"session_id":%q,"tool_name":"Write","tool_input":{"file_path":"/srv/app/%d.txt","content":"%s"}}`, session, i, content)
	if err := o.nc.PublishMsg(m); err != nil {
		t.Fatal(err)
	}
}
