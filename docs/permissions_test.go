package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/hookstate/bucket"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// lockedLog is a log that several goroutines write.
type lockedLog struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var quoted = regexp.MustCompile("`([^`]+)`")

// stores are the streams that a router with the default prefix keeps.
var stores = []string{
	"KV_hooks_registry", "KV_hooks_sessions", "KV_hooks_approvals", "KV_hooks_salts", "KV_hooks_index", "KV_hooks_policies", "HOOKS_AUDIT", "HOOKS_CHECKPOINTS",
}

// permissionTable reads the table of permissions.md: for each role what it may
// publish and subscribe to. The role "setup" has what the router has, and more.
func permissionTable(t *testing.T, id string) []*natsserver.User {
	t.Helper()
	_, part, _ := strings.Cut(read(t, "permissions.md"), "## Permissions\n")
	part, _, _ = strings.Cut(part, "\n## ")
	roles := map[string]*natsserver.Permissions{}
	var users []*natsserver.User
	for line := range strings.SplitSeq(part, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(line, "`") {
			continue
		}
		role := strings.Trim(strings.Fields(cells[1])[0], ",:")
		granted := &natsserver.Permissions{Publish: &natsserver.SubjectPermission{}, Subscribe: &natsserver.SubjectPermission{}}
		if role == "setup" {
			granted.Publish.Allow = slices.Clone(roles["router"].Publish.Allow)
			granted.Subscribe.Allow = slices.Clone(roles["router"].Subscribe.Allow)
		}
		for i, p := range []*natsserver.SubjectPermission{granted.Publish, granted.Subscribe} {
			for _, m := range quoted.FindAllStringSubmatch(cells[i+2], -1) {
				switch {
				case m[1] == "allow_responses":
					granted.Response = &natsserver.ResponsePermission{
						MaxMsgs: natsserver.DEFAULT_ALLOW_RESPONSE_MAX_MSGS, Expires: natsserver.DEFAULT_ALLOW_RESPONSE_EXPIRATION,
					}
				case strings.Contains(m[1], "<store>"):
					for _, store := range stores {
						p.Allow = append(p.Allow, strings.ReplaceAll(m[1], "<store>", store))
					}
				default:
					p.Allow = append(p.Allow, strings.ReplaceAll(m[1], "<id>", id))
				}
			}
		}
		roles[role] = granted
		users = append(users, &natsserver.User{Username: role, Password: "secret", Permissions: granted})
	}
	return users
}

// setupRights are the rights of the role "setup" as nats-server's configuration has them.
func setupRights(t *testing.T) string {
	t.Helper()
	users := permissionTable(t, "guard")
	setup := users[slices.IndexFunc(users, func(u *natsserver.User) bool { return u.Username == "setup" })].Permissions
	setup.Publish.Allow = append(setup.Publish.Allow, "_R_.>") // answers to other accounts
	list := func(subjects []string) string { return "[\n    \"" + strings.Join(subjects, "\"\n    \"") + "\"\n  ]" }
	return fmt.Sprintf("setup_rights: {\n  publish: %s\n  subscribe: %s\n}\n", list(setup.Publish.Allow), list(setup.Subscribe.Allow))
}

// TestRightsOfRouters keeps what the accounts of the operator's reference refer to what
// its table says.
func TestRightsOfRouters(t *testing.T) {
	generated(t, "permissions.md", "setup rights", "```text\n"+setupRights(t)+"```\n")
}

// fenced is a server that grants the roles of the operator's reference what stands
// there and nothing else, with two routers on it.
type fenced struct {
	server *natsserver.Server
	log    *lockedLog
	logger *slog.Logger
}

func newFenced(t *testing.T, ctx context.Context) *fenced {
	t.Helper()
	f := serverOf(t, &natsserver.Options{Users: permissionTable(t, "guard")})
	f.start(t, ctx, router.Options{}, "setup")()
	for range 2 { // so that they report to each other
		t.Cleanup(f.start(t, ctx, router.Options{}, "router"))
	}
	return f
}

// serverOf is a server with JetStream on the loopback, and the options that are given.
func serverOf(t *testing.T, o *natsserver.Options) *fenced {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", natsserver.RANDOM_PORT, true, true
	o.JetStream, o.StoreDir = true, t.TempDir()
	ns, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server is not ready")
	}
	f := &fenced{server: ns, log: &lockedLog{}}
	f.logger = slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return f
}

func (f *fenced) url(role string) string {
	return fmt.Sprintf("nats://%s:secret@%s", role, f.server.Addr())
}

// start starts a router in a role of the server. stop waits for its end.
func (f *fenced) start(t *testing.T, ctx context.Context, o router.Options, role string) (stop func()) {
	t.Helper()
	n, err := server.Start(ctx, server.Options{NATS: natsx.Options{URL: f.url(role)}, Router: o, Log: f.logger})
	if err != nil {
		t.Fatalf("%s: %v\n%s", role, err, f.log.String())
	}
	routing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- n.Run(routing, func() { close(up) }) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	select {
	case <-up:
	case <-ctx.Done():
		stop()
		t.Fatalf("a router in the role %s does not serve:\n%s", role, f.log.String())
	}
	return stop
}

// inbox gives a role the inbox prefix that the reference gives it. Routers may answer
// the user "test" where they answer agents.
func inbox(role string) []nats.Option {
	if role == "test" {
		role = "agent"
	}
	return []nats.Option{nats.CustomInboxPrefix("_INBOX_" + role)}
}

// guard registers the hook of these tests, which denies tools and asks a person
// about deployments.
func (f *fenced) guard(t *testing.T, ctx context.Context, role string) *worker.Worker {
	t.Helper()
	w, err := worker.New(natstest.Client(t, hookrouter.Options{URL: f.url(role), Log: f.logger}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reg := worker.Registration{ID: "guard", Events: []string{"tool:pre", "deploy:start"}, OnFailure: chain.FailClosed}
	if _, err := w.Register(ctx, reg, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if ev.Name == "deploy:start" {
			return worker.Result{Action: chain.AskUser, ApprovalOptions: []string{"Allow always", "Deny"}}, nil
		}
		return worker.Deny("no")
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (f *fenced) agent(t *testing.T, role string) *agent.Agent {
	t.Helper()
	a, err := agent.New(natstest.Client(t, hookrouter.Options{URL: f.url(role), NATS: inbox(role), Log: f.logger}), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (f *fenced) approver(t *testing.T, role string) *approver.Approver {
	t.Helper()
	return approver.New(natstest.Client(t, hookrouter.Options{URL: f.url(role), NATS: inbox(role), Log: f.logger}))
}

// executing sends an event that a person is asked about.
func executing(t *testing.T, ctx context.Context, a *agent.Agent) <-chan agent.Execution {
	t.Helper()
	got := make(chan agent.Execution, 1)
	go func() {
		x, err := a.Execute(ctx, "deploy:start", json.RawMessage(`{}`))
		if err != nil {
			t.Error("execute:", err)
		}
		got <- x
	}()
	return got
}

// asked waits for an approval request that an approver gets to see.
func asked(t *testing.T, ctx context.Context, p *approver.Approver) approval.Request {
	t.Helper()
	questions := make(chan approval.Request, 16)
	watching, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		if err := p.Watch(watching, func(n approval.Notice) { questions <- n.Request }); err != nil {
			t.Error("watch:", err)
		}
	})
	defer done.Wait()
	defer stop()
	select {
	case q := <-questions:
		return q
	case <-ctx.Done():
		t.Fatal("the approver sees no approval request")
		return approval.Request{}
	}
}

// TestThePermissionsAreEnough runs each role with the rights that the operator's
// reference gives it, on a server that grants nothing else.
func TestThePermissionsAreEnough(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := newFenced(t, ctx)
	w, a, p := f.guard(t, ctx, "hook"), f.agent(t, "agent"), f.approver(t, "approver")
	operator, err := natsx.Connect(natsx.Options{URL: f.url("operator"), NATS: inbox("operator"), Log: f.logger})
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	seen := make(chan string, 64)
	for _, subject := range []string{"hooks.event.>", "hooks.result.>"} {
		if _, err := operator.Subscribe(subject, func(*natsx.Message) { seen <- subject }); err != nil {
			t.Fatal(err)
		}
	}
	if err := operator.Conn().FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}

	if answer, err := a.Emit(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil || answer.Reason != "no" {
		t.Errorf("emit: %+v %v", answer, err)
	}
	if _, err := a.EmitAndCollect(ctx, "tool:pre", json.RawMessage(`{}`), time.Second); err != nil {
		t.Error(err)
	}
	if _, err := a.CollectContributions(ctx, "a.b", time.Second); err != nil {
		t.Error(err)
	}
	for range 2 {
		select {
		case <-seen:
		case <-ctx.Done():
			t.Fatal("the operator does not see events")
		}
	}
	for _, subject := range []string{"hooks.handlers", "hooks.registry", "hooks.explain.tool.pre", "$SRV.PING", "$SRV.STATS.hook-worker"} {
		if _, err := operator.Request(ctx, subject, nil, nil); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}

	verdicts := executing(t, ctx, a)
	q := asked(t, ctx, p)
	if list, total, err := p.Pending(ctx, approval.Filter{}); err != nil || total != 1 || len(list) != 1 {
		t.Errorf("pending: %+v %d %v", list, total, err)
	}
	if record, err := p.Get(ctx, q.ID); err != nil || record.ID != q.ID {
		t.Errorf("approval request: %+v %v", record, err)
	}
	if _, err := p.Answer(ctx, q.ID, approval.Answer{Option: "Allow always", DataSHA256: q.DataSHA256}); err != nil {
		t.Errorf("answer: %v", err)
	}
	if x := <-verdicts; !x.Permitted() {
		t.Errorf("execute: %+v", x)
	}
	if err := a.NewTurn(ctx); err != nil {
		t.Error(err)
	}
	if info, err := p.Session(ctx, "s1"); err != nil || info.Turn != 1 || len(info.Grants) != 1 {
		t.Errorf("session: %+v %v", info, err)
	}
	if n, err := p.Revoke(ctx, "s1", "", ""); err != nil || n != 1 {
		t.Errorf("revoke: %d %v", n, err)
	}
	if err := a.EndSession(ctx); err != nil {
		t.Error(err)
	}
	if err := w.Retire(ctx, "guard"); err != nil {
		t.Error(err)
	}
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}
	f.makeState(t, ctx)
	remembers(t, ctx, f.state(t, "state"))
	watching, err := natsx.Connect(natsx.Options{URL: f.url("router"), Log: f.logger})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Close()
	for _, subject := range []string{"hooks.event.>", "hooks.result.>"} { // as the console does
		if _, err := watching.Subscribe(subject, func(*natsx.Message) {}); err != nil {
			t.Fatal(err)
		}
	}
	if err := watching.Conn().FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if text := f.log.String(); strings.Contains(strings.ToLower(text), "permissions") {
		t.Errorf("somebody lacked a right:\n%s", text)
	}
}

// TestARemovedHookIsRegisteredAgain has a router, with no more than its rights, look at
// the mark that a removed hook leaves in the registry.
func TestARemovedHookIsRegisteredAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := newFenced(t, ctx)
	for range 2 {
		w := f.guard(t, ctx, "hook")
		if err := w.Retire(ctx, "guard"); err != nil {
			t.Error(err)
		}
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	if text := f.log.String(); strings.Contains(strings.ToLower(text), "permissions") {
		t.Errorf("the router lacks a right:\n%s", text)
	}
}

// makeState makes the bucket of what hooks remember, as a worker with a keeper's rights
// would.
func (f *fenced) makeState(t *testing.T, ctx context.Context) {
	t.Helper()
	keeper, err := natsx.Connect(natsx.Options{URL: f.url("keeper"), NATS: inbox("operator"), Log: f.logger})
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	if _, err := keeper.OpenBucket(ctx, bucket.Options(keeper.Prefix(), 0)); err != nil {
		t.Fatal(err)
	}
}

// state is what hooks remember, as a role sees it.
func (f *fenced) state(t *testing.T, role string) hookstate.Store {
	t.Helper()
	states := bucket.New(func() (*natsx.Conn, error) { return natsx.Connect(natsx.Options{URL: f.url(role), Log: f.logger}) })
	t.Cleanup(states.Close)
	return states
}

// remembers uses a store in every way that hooks do.
func remembers(t *testing.T, ctx context.Context, states hookstate.Store) {
	t.Helper()
	counts := hookstate.Of[int](states, "limits.guard")
	for range 2 {
		if err := counts.Update(ctx, "s1", func(n *int) bool { *n++; return true }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := counts.Now(ctx); err != nil {
		t.Error(err)
	}
	sum := 0
	if err := counts.Each(ctx, func(n int) bool { sum += n; return true }); err != nil || sum != 2 {
		t.Errorf("what is remembered is %d, %v; want 2", sum, err)
	}
	if err := counts.Forget(ctx, "s1"); err != nil {
		t.Error(err)
	}
	if n, err := counts.Get(ctx, "s1"); err != nil || n != 0 {
		t.Errorf("what was forgotten is %d, %v", n, err)
	}
}

// TestWhatHooksRememberIsInAnAccountOfItsOwn runs the accounts of the operator's
// reference.
func TestWhatHooksRememberIsInAnAccountOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := accounts(t, "### What hooks remember\n")
	remembers(t, ctx, f.state(t, "state"))
	router, err := natsx.Connect(natsx.Options{URL: f.url("test"), Log: f.logger})
	if err != nil {
		t.Fatal(err)
	}
	defer router.Close()
	if _, err := router.FindBucket(ctx, "hooks_hookstate"); !errors.Is(err, natsx.ErrNoStream) {
		t.Errorf("the routers' account has the bucket: %v", err)
	}
	if text := f.log.String(); strings.Contains(strings.ToLower(text), "permissions") {
		t.Errorf("who remembers lacked a right:\n%s", text)
	}
	for _, subject := range []string{"$JS.API.STREAM.DELETE.KV_hooks_hookstate", "$JS.API.CONSUMER.CREATE.KV_hooks_hookstate.x", "$JS.API.STREAM.CREATE.x", "$KV.x.y", "hooks.approve.x"} {
		if f.permits(t, "state", func(nc *nats.Conn) error { return nc.Publish(subject, nil) }) {
			t.Errorf("who remembers may publish on %s", subject)
		}
	}
}

// TestNobodyDecidesWhoMayNot has each role try, while an approval request is open, what
// would decide it or forge an answer.
func TestNobodyDecidesWhoMayNot(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := newFenced(t, ctx)
	w, a, p := f.guard(t, ctx, "hook"), f.agent(t, "agent"), f.approver(t, "approver")
	defer func() {
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	verdicts := executing(t, ctx, a)
	q := asked(t, ctx, p)

	stored := []string{
		"hooks.audit.decision." + q.ID, "hooks.audit.x", "hooks.audit.w.x", "hooks.checkpoint.HOOKS_AUDIT", "hooks.cosigned.HOOKS_AUDIT.x",
		"$KV.hooks_approvals." + q.ID, "$KV.hooks_sessions.x", "$KV.hooks_registry.hook.guard", "$KV.hooks_salts.x", "$KV.hooks_index.x",
	}
	asking := []string{"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.HOOKS_AUDIT", "$JS.API.STREAM.MSG.GET.HOOKS_AUDIT", "$JS.API.CONSUMER.CREATE.HOOKS_AUDIT.x"}
	api := []string{
		"$JS.API.STREAM.DELETE.HOOKS_CHECKPOINTS", "$JS.API.STREAM.PURGE.HOOKS_CHECKPOINTS", "$JS.API.STREAM.UPDATE.HOOKS_CHECKPOINTS", "$JS.API.STREAM.CREATE.HOOKS_AUDIT_2",
		"$JS.API.STREAM.DELETE.HOOKS_AUDIT", "$JS.API.STREAM.PURGE.HOOKS_AUDIT", "$JS.API.STREAM.UPDATE.HOOKS_AUDIT", "$JS.API.STREAM.CREATE.HOOKS_AUDIT",
		"$JS.API.STREAM.MSG.DELETE.HOOKS_AUDIT", "$JS.API.STREAM.DELETE.KV_hooks_approvals", "$JS.API.STREAM.PURGE.KV_hooks_approvals",
	}
	ordering := []string{"hooks.freeze", "hooks.thaw", "hooks.guard.pin", "hooks.guard.unpin", "hooks.hook.disable", "hooks.hook.enable", "hooks.session.close", "hooks.registry.accept", "hooks.reveal." + q.ID} // an operator's and a keeper's
	answering := []string{"hooks.approve." + q.ID, "hooks.approvals", "hooks.approval." + q.ID, "hooks.session.revoke"}
	forging := []string{"_INBOX.x", "_INBOX_router.x", "_INBOX_agent.x", "_INBOX_approver.x", "hooks.call.guard", "hooks.event.approval.granted", "hooks.result.tool.pre", "hooks.router.report"}
	for role, subjects := range map[string][]string{
		"hook":     slices.Concat(ordering, stored, asking, api, answering, forging, []string{"hooks.execute.tool.pre", "hooks.emit.tool.pre", "hooks.session.end", "hooks.register.other", "hooks.unregister.other"}),
		"agent":    slices.Concat(ordering, stored, asking, api, answering, forging, []string{"hooks.session.show", "hooks.register.guard", "hooks.unregister.guard"}),
		"approver": slices.Concat(ordering, stored, asking, api, forging, []string{"hooks.execute.tool.pre", "hooks.session.end", "hooks.register.guard", "hooks.unregister.guard"}),
		"operator": slices.Concat(stored, asking, api, answering, forging, []string{"hooks.execute.tool.pre", "hooks.session.end", "hooks.thaw", "hooks.guard.unpin", "hooks.hook.disable", "hooks.registry.accept", "hooks.reveal." + q.ID}),
		"state": slices.Concat(ordering, stored, asking, api, answering, forging, []string{
			"hooks.execute.tool.pre", "hooks.register.guard", "hooks.session.end", "$JS.API.CONSUMER.CREATE.KV_hooks_hookstate", "$JS.API.CONSUMER.CREATE.KV_hooks_hookstate.x",
			"$JS.API.DIRECT.GET.KV_hooks_hookstate", "$JS.API.STREAM.CREATE.KV_hooks_hookstate", "$JS.API.STREAM.UPDATE.KV_hooks_hookstate",
		}),
		"router": append(slices.Concat(ordering, api), "hooks.cosigned.HOOKS_AUDIT.x"),
	} {
		for _, subject := range subjects {
			if f.permits(t, role, func(nc *nats.Conn) error { return nc.Publish(subject, []byte(`{"option":"Allow always"}`)) }) {
				t.Errorf("the role %s may publish on %s", role, subject)
			}
		}
	}
	for role, subjects := range map[string][]string{
		"hook":     {"_INBOX_router.>", "_INBOX_agent.>", "_INBOX_approver.>", "hooks.call.other", "hooks.event.>", "hooks.audit.>", "hooks.approve.*", "$KV.>"},
		"state":    {"_INBOX_router.>", "_INBOX_agent.>", "_INBOX_approver.>", "hooks.call.guard", "hooks.event.>", "hooks.audit.>", "hooks.approve.*", "$KV.>"},
		"agent":    {"_INBOX.>", "_INBOX_router.>", "_INBOX_approver.>", "hooks.call.guard", "hooks.event.>", "hooks.audit.>", "hooks.approve.*", "$KV.>"},
		"approver": {"_INBOX.>", "_INBOX_router.>", "_INBOX_agent.>", "hooks.call.guard", "hooks.event.>", "hooks.audit.>", "hooks.approve.*", "$KV.>"},
	} {
		for _, subject := range subjects {
			if f.permits(t, role, func(nc *nats.Conn) error { _, err := nc.Subscribe(subject, func(*nats.Msg) {}); return err }) {
				t.Errorf("the role %s may subscribe to %s", role, subject)
			}
		}
	}

	record, err := p.Get(ctx, q.ID)
	if err != nil || record.Decision != nil {
		t.Fatalf("the approval request is decided: %+v %v", record, err)
	}
	if _, err := p.Answer(ctx, q.ID, approval.Answer{Option: "Deny"}); err != nil {
		t.Error(err)
	}
	if x := <-verdicts; x.Action != verdict.Deny {
		t.Errorf("execute: %+v", x)
	}
}

// TestAWorkerWinsNoRightByItsAnswers has a worker answer its call with a reply
// subject of its own, which allow_responses would grant it if the answer came back.
func TestAWorkerWinsNoRightByItsAnswers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := newFenced(t, ctx)
	refused := make(chan error, 16)
	nc, err := nats.Connect(f.url("hook"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.SubscribeSync("_INBOX.>"); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Subscribe("hooks.call.guard", func(m *nats.Msg) {
		id := approval.IDOf("", "s1", "deploy:start", m.Header.Get("ce-id"))
		_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Reply: "hooks.audit.decision." + id, Data: []byte(`{"action":"ask_user"}`)})
	}); err != nil {
		t.Fatal(err)
	}
	if m, err := nc.RequestWithContext(ctx, "hooks.register.guard", []byte(`{"events":["deploy:start"]}`)); err != nil || len(m.Header) > 0 {
		t.Fatal(m, err)
	}
	a, p := f.agent(t, "agent"), f.approver(t, "approver")
	verdicts := executing(t, ctx, a)
	q := asked(t, ctx, p)
	subject := "hooks.audit.decision." + q.ID
	if err := nc.Publish(subject, []byte(`{"kind":"approval.decided","approval_id":"`+q.ID+`","option":"Allow","granted":true,"decided_by":"ann"}`)); err != nil {
		t.Fatal(err)
	}
	if err := nc.FlushWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-refused:
		if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), subject) {
			t.Errorf("refused with %v", err)
		}
	case x := <-verdicts:
		t.Fatalf("the worker decided for a person: %+v %+v", x.Verdict, x.Approval)
	case <-ctx.Done():
		t.Fatal("the worker may publish on ", subject)
	}
	if _, err := p.Answer(ctx, q.ID, approval.Answer{Option: "Deny"}); err != nil {
		t.Errorf("the person is too late: %v", err)
	}
	if x := <-verdicts; x.Action != verdict.Deny {
		t.Errorf("execute: %+v", x)
	}
}

// permits reports whether the server lets a role do something.
func (f *fenced) permits(t *testing.T, role string, do func(*nats.Conn) error) bool {
	t.Helper()
	nc, err := nats.Connect(f.url(role), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := do(nc); err != nil {
		t.Fatal(err)
	}
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	return !errors.Is(nc.LastError(), nats.ErrPermissionViolation)
}

// accounts is a server with the accounts that stand below a heading of the operator's
// reference. The user "test" is in the routers' account besides, with all rights there.
func accounts(t *testing.T, heading string) *fenced {
	t.Helper()
	_, config, _ := strings.Cut(read(t, "permissions.md"), heading)
	_, config, _ = strings.Cut(config, "```text\n")
	config, _, _ = strings.Cut(config, "```")
	config = setupRights(t) + regexp.MustCompile(`"\$[A-Z]+"`).ReplaceAllString(config, "secret")
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := natsserver.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, account := range o.Accounts {
		if account.Name == "ROUTERS" {
			o.Users = append(o.Users, &natsserver.User{Username: "test", Password: "secret", Account: account})
		}
	}
	return serverOf(t, o)
}

// TestAccountsProveWhoAnswered runs the accounts of the operator's reference.
func TestAccountsProveWhoAnswered(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := accounts(t, "### Who answered\n")
	t.Cleanup(f.start(t, ctx, router.Options{Accounts: true, Approvals: approvals.Options{ProvenOnly: true}}, "router"))
	w := f.guard(t, ctx, "worker")
	defer func() {
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	a, p := f.agent(t, "coder"), f.approver(t, "ann")
	verdicts := executing(t, ctx, a)
	q := asked(t, ctx, p)

	inside := approver.New(natstest.Client(t, hookrouter.Options{URL: f.url("test")}))
	if _, err := inside.Answer(ctx, q.ID, approval.Answer{Option: "Allow always", By: "ann"}); wire.CodeOf(err) != wire.Forbidden {
		t.Errorf("an answer that nobody is known to stand behind: %v", err)
	}
	if _, err := p.Answer(ctx, q.ID, approval.Answer{Option: "Allow always"}); err != nil {
		t.Error(err)
	}
	if x := <-verdicts; x.Approval == nil || x.Approval.DecidedBy != "nats APPROVERS/ann" {
		t.Errorf("execute: %+v", x.Approval)
	}

	again := testkit.Receive(t, "the verdict that the grant gives", executing(t, ctx, a))
	if again.Approval == nil || !again.Approval.Cached {
		t.Errorf("the agent that was always allowed: %+v", again)
	}
	other := executing(t, ctx, f.agent(t, "reviewer")) // with the same session id
	if _, err := p.Answer(ctx, asked(t, ctx, p).ID, approval.Answer{Option: "Deny"}); err != nil {
		t.Error(err)
	}
	if x := <-other; x.Permitted() {
		t.Errorf("another agent got the grant: %+v", x)
	}
}

// TestAgentsOfAnAccountCannotAnswerForTheRouter: what an agent subscribes to in its own
// account gets the requests of the other agents before the router does.
func TestAgentsOfAnAccountCannotAnswerForTheRouter(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := accounts(t, "### Who answered\n")
	t.Cleanup(f.start(t, ctx, router.Options{Accounts: true}, "router"))
	f.guard(t, ctx, "worker")
	attacker, err := nats.Connect(f.url("reviewer"), inbox("reviewer")...)
	if err != nil {
		t.Fatal(err)
	}
	defer attacker.Close()
	for _, subject := range []string{"hooks.execute.>", "hooks.emit.>", "hooks.>", ">", "_INBOX_coder.>", "_INBOX.>"} {
		_, err := attacker.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"continue","data":{},"injected_tokens":0}`)) })
		if err == nil {
			err = attacker.FlushWithContext(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		if last := attacker.LastError(); !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`) {
			t.Errorf("an agent may subscribe to %s (%v)", subject, last)
		}
	}
	for range 20 {
		if x, err := f.agent(t, "coder").Execute(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil || x.Permitted() {
			t.Fatalf("%+v, %v; want a denial", x, err)
		}
	}
}
