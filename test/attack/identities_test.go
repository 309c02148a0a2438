package attack

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/memdir"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// authBus is a router whose server knows identities, two of most roles.
type authBus struct {
	t    *testing.T
	s    *server.Server
	stop func() // stops the router with its server
	auth string // the directory of the authority
}

func newAuthBus(t *testing.T, o router.Options, more ...identity.Identity) *authBus {
	t.Helper()
	dir := natstest.StoreDir(t)
	w := &authBus{t: t, auth: filepath.Join(dir, "auth")}
	known, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(w.auth, known); err != nil {
		t.Fatal(err)
	}
	w.s, err = server.Start(t.Context(), server.Options{
		NATS: natsx.Options{Prefix: "hooks"}, Listen: "127.0.0.1:0", StoreDir: dir, AuthDir: w.auth, AgentHTTP: server.AgentHTTP{Listen: "127.0.0.1:0"}, Router: o,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- w.s.Run(ctx, func() { close(up) }) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	testkit.Closed(t, "the router to serve", up)
	if len(more) > 0 {
		w.join(more...)
	}
	return w
}

// auditing are identities of the account that the first of them makes, while the server runs.
var auditing = []identity.Identity{
	{Name: "ada", Role: identity.Auditor},
	{Name: "aldo", Role: identity.Auditor},
	{Name: "arch", Role: identity.Archive},
	{Name: "wilma", Role: identity.Witness, Witness: "wilma-1"},
	{Name: "walt", Role: identity.Witness, Witness: "walt-2"},
}

// authority has everybody whom a bus knows from its start. It is made once: that takes longer
// than to start a server.
var authority = sync.OnceValues(func() (fs.FS, error) {
	return memdir.Made(func(dir string) error {
		a, err := identity.EnsureServed(dir, "hooks")
		if err != nil {
			return err
		}
		for _, i := range []identity.Identity{
			{Name: "coder", Role: identity.Agent},
			{Name: "rival", Role: identity.Agent},
			{Name: "ann", Role: identity.Approver},
			{Name: "bob", Role: identity.Approver},
			{Name: "oscar", Role: identity.Operator},
			{Name: "guards", Role: identity.Worker, Hooks: []string{"guard"}},
			{Name: "others", Role: identity.Worker, Hooks: []string{"other"}, May: &identity.Limits{
				Events: []string{"tool:pre"}, Priority: &identity.Band{Min: 100, Max: 200}, Actions: []chain.Action{chain.InjectContext}, TimeoutMS: 1000,
			}},
			{Name: "narrow", Role: identity.Worker, Hooks: []string{"narrow"}, May: &identity.Limits{Actions: []chain.Action{}, Fields: []string{"tool_name"}}},
		} {
			if _, err := a.Add(i); err != nil {
				return err
			}
		}
		return nil
	})
})

// join makes identities while the server runs, as hookctl auth add does.
func (w *authBus) join(list ...identity.Identity) {
	w.t.Helper()
	system := w.conn("system")
	defer system.Close()
	err := identity.Change(w.auth, func(a *identity.Authority) error {
		for _, i := range list {
			if _, err := a.Add(i); err != nil {
				return err
			}
		}
		return identity.Push(w.t.Context(), a, system)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *authBus) creds(name string) string { return filepath.Join(w.auth, "creds", name+".creds") }

// conn connects with the credentials of an identity.
func (w *authBus) conn(name string, options ...nats.Option) *natsx.Conn {
	w.t.Helper()
	c, err := natsx.Connect(natsx.Options{URL: w.s.ClientURL(), Creds: w.creds(name), NATS: options})
	if err != nil {
		w.t.Fatalf("connect as %s: %v", name, err)
	}
	w.t.Cleanup(c.Close)
	return c
}

func (w *authBus) client(name string) *hookrouter.Client {
	return natstest.Client(w.t, hookrouter.Options{Conn: w.conn(name).Conn(), Patience: 1})
}

func (w *authBus) agent(name string) *agent.Agent {
	w.t.Helper()
	a, err := agent.New(w.client(name), agent.Options{Session: "s1"})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// guard registers the guard that denies what removes.
func (w *authBus) guard() {
	w.t.Helper()
	guards, err := worker.New(w.client("guards"), worker.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := guards.Register(w.t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, denies); err != nil {
		w.t.Fatal(err)
	}
}

// probes are the subjects that anybody might want to use: those of the wire protocol, of
// the stores, of JetStream and of the NATS server.
var probes = func() []string {
	list := []string{
		"hooks.emit.tool.pre", "hooks.execute.tool.pre", "hooks.collect.tool.pre", "hooks.contributions.a.b",
		"hooks.session.turn", "hooks.session.end", "hooks.session.show", "hooks.session.revoke", "hooks.session.close",
		"hooks.approvals", "hooks.approval.x", "hooks.approve.x", "hooks.reveal.x",
		"hooks.handlers", "hooks.handlers.tool.pre", "hooks.registry", "hooks.explain.tool.pre",
		"hooks.freeze", "hooks.thaw", "hooks.frozen", "hooks.prove", "hooks.guards", "hooks.guard.pin", "hooks.guard.unpin", "hooks.hook.disable", "hooks.hook.enable", "hooks.registry.accept", "hooks.policy.get", "hooks.policy.push",
		"hooks.register.guard", "hooks.unregister.guard", "hooks.register.other", "hooks.unregister.other",
		"hooks.call.guard", "hooks.call.other", "hooks.event.tool.pre", "hooks.event.approval.required", "hooks.result.tool.pre",
		"hooks.router.report", "hooks.audit.w.x", "hooks.audit.decision.x", "hooks.checkpoint.x", "hooks.cosigned.x.y", "hooks.cosigned.x.wilma-1", "hooks.cosigned.x.walt-2", "routers.API.CONSUMER.CREATE.HOOKS_AUDIT.c", "audit.copy.x", "hooks.unknown",
		"$SRV.PING", "$SRV.STATS.hook-router", "$JS.ACK.x", "$JS.FC.x", "$KV.hooks_hookstate.x",
		"$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.x.CONNZ", "$SYS.ACCOUNT.x.CONNECT",
		"_INBOX.x.y", "_INBOX.worker.guards.x", "_INBOX.worker.others.x", "_INBOX.keeper.keeper.x", "_INBOX.auditor.ada.x", "_INBOX.auditor.aldo.x", "_INBOX.witness.wilma.x", "_INBOX.witness.walt.x", "_INBOX.archive.arch.x", "_INBOX_router.x", "_R_.x", "x",
		"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.META.LEADER.STEPDOWN",
	}
	for _, b := range []string{"registry", "sessions", "approvals", "salts", "index", "policies"} {
		list = append(list, "$KV.hooks_"+b+".x")
	}
	for _, stream := range []string{"KV_hooks_registry", "KV_hooks_sessions", "KV_hooks_approvals", "KV_hooks_salts", "KV_hooks_index", "KV_hooks_policies", "KV_hooks_hookstate", "HOOKS_AUDIT", "HOOKS_CHECKPOINTS"} {
		for _, call := range []string{
			"STREAM.CREATE", "STREAM.UPDATE", "STREAM.DELETE", "STREAM.PURGE", "STREAM.INFO", "STREAM.MSG.GET", "STREAM.MSG.DELETE", "STREAM.SNAPSHOT", "STREAM.RESTORE", "STREAM.LEADER.STEPDOWN",
			"DIRECT.GET", "CONSUMER.NAMES", "CONSUMER.LIST",
		} {
			list = append(list, "$JS.API."+call+"."+stream)
		}
		for _, call := range []string{"CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE", "CONSUMER.DELETE", "CONSUMER.INFO", "CONSUMER.MSG.NEXT"} {
			list = append(list, "$JS.API."+call+"."+stream+".c")
		}
	}
	return list
}()

var (
	ofAgents    = []string{"hooks.emit.tool.pre", "hooks.execute.tool.pre", "hooks.collect.tool.pre", "hooks.contributions.a.b", "hooks.session.turn", "hooks.session.end", "hooks.prove"}
	ofApprovers = []string{"hooks.session.show", "hooks.session.revoke", "hooks.approvals", "hooks.approval.x", "hooks.approve.x", "hooks.prove"}
	ofOperators = []string{
		"hooks.handlers", "hooks.handlers.tool.pre", "hooks.registry", "hooks.explain.tool.pre", "hooks.unregister.guard", "hooks.unregister.other",
		"hooks.freeze", "hooks.frozen", "hooks.prove", "hooks.guards", "hooks.guard.pin", "hooks.hook.enable", "hooks.session.close", "hooks.policy.get", "hooks.policy.push", "$SRV.PING", "$SRV.STATS.hook-router",
	}
	ownInboxes = []string{ // of whoever has an account of its own
		"_INBOX.x.y", "_INBOX.worker.guards.x", "_INBOX.worker.others.x", "_INBOX.keeper.keeper.x", "_INBOX.auditor.ada.x", "_INBOX.auditor.aldo.x",
		"_INBOX.witness.wilma.x", "_INBOX.witness.walt.x", "_INBOX.archive.arch.x",
	}
	ofState = []string{
		"$JS.API.INFO", "$JS.API.STREAM.CREATE.KV_hooks_hookstate", "$JS.API.STREAM.UPDATE.KV_hooks_hookstate", "$JS.API.STREAM.INFO.KV_hooks_hookstate",
		"$JS.API.STREAM.MSG.GET.KV_hooks_hookstate", "$KV.hooks_hookstate.x",
	}
)

// ofKeepers is all of JetStream's API, which can delete the log.
func ofKeepers() []string {
	list := []string{"$KV.hooks_salts.x", "hooks.cosigned.x.y", "hooks.cosigned.x.wilma-1", "hooks.cosigned.x.walt-2", "$SRV.PING", "$SRV.STATS.hook-router"}
	for _, p := range probes {
		if strings.HasPrefix(p, "$JS.API.") {
			list = append(list, p)
		}
	}
	return list
}

// ofAuditors is what reads a stream of their account.
func ofAuditors(more ...string) (list []string) {
	for _, p := range probes {
		call, found := strings.CutPrefix(p, "$JS.API.")
		reads := func(prefix string) bool { return strings.HasPrefix(call, prefix) }
		if found && (call == "STREAM.NAMES" || reads("STREAM.INFO.") || reads("STREAM.MSG.GET.") || reads("CONSUMER.CREATE.") || reads("CONSUMER.INFO.") || reads("CONSUMER.DELETE.") || reads("CONSUMER.MSG.NEXT.")) {
			list = append(list, p)
		}
	}
	return append(list, more...)
}

// ofArchive is what makes one.
func ofArchive() (list []string) {
	for _, p := range probes {
		if p == "$JS.API.INFO" || strings.HasPrefix(p, "$JS.API.STREAM.CREATE.") || strings.HasPrefix(p, "$JS.API.STREAM.INFO.") {
			list = append(list, p)
		}
	}
	return list
}

// matrix is what each identity may use, of the probes.
var matrix = map[string]struct{ publish, subscribe []string }{
	"coder":  {ofAgents, ownInboxes},
	"rival":  {ofAgents, ownInboxes},
	"ann":    {ofApprovers, append([]string{"hooks.event.approval.required"}, ownInboxes...)},
	"bob":    {ofApprovers, append([]string{"hooks.event.approval.required"}, ownInboxes...)},
	"admin":  {slices.Concat(ofAgents, ofApprovers, ofOperators, []string{"hooks.reveal.x", "hooks.thaw", "hooks.guard.unpin", "hooks.hook.disable", "hooks.registry.accept", "hooks.call.guard", "hooks.call.other"}), append([]string{"hooks.event.tool.pre", "hooks.event.approval.required", "hooks.result.tool.pre"}, ownInboxes...)},
	"oscar":  {append([]string{"hooks.session.show"}, ofOperators...), append([]string{"hooks.event.tool.pre", "hooks.event.approval.required", "hooks.result.tool.pre"}, ownInboxes...)},
	"guards": {[]string{"hooks.registry", "hooks.policy.get", "hooks.register.guard", "hooks.unregister.guard"}, []string{"hooks.call.guard", "$SRV.PING", "$SRV.STATS.hook-router", "_INBOX.worker.guards.x"}},
	"others": {[]string{"hooks.registry", "hooks.policy.get", "hooks.register.other", "hooks.unregister.other"}, []string{"hooks.call.other", "$SRV.PING", "$SRV.STATS.hook-router", "_INBOX.worker.others.x"}},
	"state":  {ofState, nil},
	"ada":    {ofAuditors(), []string{"_INBOX.auditor.ada.x"}},
	"aldo":   {ofAuditors(), []string{"_INBOX.auditor.aldo.x"}},
	"wilma":  {ofAuditors("hooks.cosigned.x.wilma-1"), []string{"_INBOX.witness.wilma.x"}},
	"walt":   {ofAuditors("hooks.cosigned.x.walt-2"), []string{"_INBOX.witness.walt.x"}},
	"arch":   {ofArchive(), []string{"_INBOX.archive.arch.x"}},
	"keeper": {ofKeepers(), []string{"_INBOX.keeper.keeper.x"}},
	"system": {[]string{"$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE"}, nil},
}

var violation = regexp.MustCompile(`Permissions Violation for (Publish|Subscription) to "([^"]+)"`)

// rights are what the server lets a connection use, of the probes.
func (w *authBus) rights(connect func(...nats.Option) *nats.Conn) (publish, subscribe []string) {
	w.t.Helper()
	var mu sync.Mutex
	refused, last := map[string]bool{}, make(chan struct{})
	nc := connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if m := violation.FindStringSubmatch(err.Error()); m != nil {
			mu.Lock()
			defer mu.Unlock()
			refused[m[1]+m[2]] = true
			if m[2] == "last" {
				close(last)
			}
		}
	}))
	for _, subject := range probes {
		if err := nc.PublishRequest(subject, "_INBOX.nobody.x", []byte("-")); err != nil {
			w.t.Fatal(err)
		}
		if _, err := nc.Subscribe(subject, func(*nats.Msg) {}); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := nc.Publish("last", nil); err != nil { // which nobody may
		w.t.Fatal(err)
	}
	testkit.Closed(w.t, "the last refusal", last)
	nc.Close()
	mu.Lock()
	defer mu.Unlock()
	for _, subject := range probes {
		if !refused["Publish"+subject] {
			publish = append(publish, subject)
		}
		if !refused["Subscription"+subject] {
			subscribe = append(subscribe, subject)
		}
	}
	return publish, subscribe
}

// TestEachIdentityMayWhatItsRoleSays tries every subject as every identity.
func TestEachIdentityMayWhatItsRoleSays(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{}, auditing...)
	for name, may := range matrix {
		publish, subscribe := w.rights(func(o ...nats.Option) *nats.Conn { return w.conn(name, o...).Conn() })
		for _, finding := range slices.Concat(differ("publish on", publish, may.publish), differ("subscribe to", subscribe, may.subscribe)) {
			t.Errorf("%s %s", name, finding)
		}
	}
}

// differ says where rights are not those that are wanted.
func differ(verb string, got, want []string) (list []string) {
	for _, subject := range probes {
		switch has, wanted := slices.Contains(got, subject), slices.Contains(want, subject); {
		case has && !wanted:
			list = append(list, fmt.Sprintf("may %s %s", verb, subject))
		case wanted && !has:
			list = append(list, fmt.Sprintf("may not %s %s", verb, subject))
		}
	}
	return list
}

// TestTheMatrixFindsARightTooMany: an agent that got the rights of a worker besides.
func TestTheMatrixFindsARightTooMany(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	publish, subscribe := w.rights(func(o ...nats.Option) *nats.Conn { return w.conn("guards", o...).Conn() })
	if len(differ("publish on", publish, matrix["coder"].publish)) == 0 || len(differ("subscribe to", subscribe, matrix["coder"].subscribe)) == 0 {
		t.Error("the rights of a worker pass for those of an agent")
	}
}

// TestAnAgentCannotReachAnother (C1, C2): a second agent with credentials of its own
// neither sees the other's requests and replies nor reaches its inbox.
func TestAnAgentCannotReachAnother(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	w.guard()
	rival := w.conn("rival").Conn()
	seen := make(chan *nats.Msg, 1024)
	for _, subject := range []string{"_INBOX.>", "hooks.execute.>", "hooks.emit.>", ">"} {
		_, _ = rival.ChanSubscribe(subject, seen) // those that are refused are no loss
	}
	coder := w.agent("coder")
	inbox := w.conn("coder").Conn().NewRespInbox() // as if it had been recovered
	requests := testkit.Volume(t, 20, 200, 200)
	for i := range requests {
		_ = rival.PublishRequest("hooks.execute.tool.pre", inbox, []byte(`{"command":"ls"}`))
		x, err := coder.Execute(t.Context(), "tool:pre", command("rm -rf /"))
		if err == nil && x.Permitted() {
			t.Fatalf("request %d of %d that a guard denies is permitted", i, requests)
		}
	}
	for len(seen) > 0 {
		if m := <-seen; !strings.HasPrefix(m.Subject, "_INBOX") || strings.Contains(string(m.Data), "rm -rf") || strings.Contains(string(m.Data), "it removes") {
			t.Errorf("an agent sees of another: %s %s", m.Subject, m.Data)
		}
	}
}

// TestAgentsJoinWithoutLoss: the server takes new accounts while others send.
func TestAgentsJoinWithoutLoss(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	coder, joined := w.conn("coder").Conn(), make(chan struct{})
	execute := func(nc *nats.Conn) error {
		_, err := nc.RequestWithContext(testkit.Within(t, testkit.Patience), "hooks.execute.tool.pre", []byte(`{}`))
		return err
	}
	var sending sync.WaitGroup
	for range 8 {
		sending.Go(func() {
			for {
				if err := execute(coder); err != nil {
					t.Errorf("while others join: %v", err)
					return
				}
				select {
				case <-joined:
					return
				default:
				}
			}
		})
	}
	for i := range 8 {
		name := fmt.Sprintf("new-%d", i)
		w.join(identity.Identity{Name: name, Role: identity.Agent})
		if err := execute(w.conn(name).Conn()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(joined)
	sending.Wait()
}

// TestTheSessionOfAnAgentIsItsOwn (H7): another agent with the same session id neither uses
// its grants nor ends it, and is asked itself.
func TestTheSessionOfAnAgentIsItsOwn(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	guards, err := worker.New(w.client("guards"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Ask("Deploy?", "Allow always", "Deny")
	}
	if _, err := guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, asks); err != nil {
		t.Fatal(err)
	}
	ann, coder, rival := approver.New(w.client("ann")), w.agent("coder"), w.agent("rival")
	ctx := testkit.Within(t, testkit.Patience)
	answered := w.answering(ctx, ann, "Allow always")
	x, err := coder.Execute(ctx, "tool:pre", command("deploy"))
	if err != nil || !x.Permitted() || <-answered != "nats agent/coder" {
		t.Fatalf("the agent that asked: %+v, %v", x, err)
	}
	if x, err := coder.Execute(ctx, "tool:pre", command("deploy")); err != nil || !x.Permitted() {
		t.Errorf("asked again: %+v, %v", x, err)
	}
	if err := rival.EndSession(ctx); err != nil {
		t.Error(err)
	}
	answered = w.answering(ctx, ann, "Deny")
	if x, err := rival.Execute(ctx, "tool:pre", command("deploy")); err != nil || x.Permitted() || <-answered != "nats agent/rival" {
		t.Errorf("another agent with the session id: %+v, %v", x, err)
	}
	if x, err := coder.Execute(ctx, "tool:pre", command("deploy")); err != nil || !x.Permitted() {
		t.Errorf("after another agent ended its own session: %+v, %v", x, err)
	}
	if _, err := ann.Session(ctx, "s1"); hookrouter.CodeOf(err) != hookrouter.CodeConflict || !strings.Contains(err.Error(), "nats agent/coder") {
		t.Errorf("the session of two agents: %v", err)
	}
	if info, err := ann.SessionOf(ctx, "nats agent/coder", "s1"); err != nil || len(info.Grants) != 1 {
		t.Errorf("the session of one: %+v, %v", info, err)
	}
	if n, err := ann.Revoke(ctx, "s1", "", ""); err != nil || n != 1 {
		t.Errorf("revoked %d, %v", n, err)
	}
	answered = w.answering(ctx, ann, "Deny")
	if x, err := coder.Execute(ctx, "tool:pre", command("deploy")); err != nil || x.Permitted() {
		t.Errorf("after the revocation: %+v, %v", x, err)
	}
	<-answered
}

// TestAnOperatorEndsTheSessionOfAnAgent: and nobody else does, nor does the operator by
// ending the operator's own.
func TestAnOperatorEndsTheSessionOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	asks := func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Ask("Deploy?", "Allow always", "Deny")
	}
	guards, err := worker.New(w.client("guards"), worker.Options{})
	ok(t, err)
	_, err = guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, asks)
	ok(t, err)
	ann, ctx := approver.New(w.client("ann")), testkit.Within(t, testkit.Patience)
	for _, name := range []string{"coder", "rival"} {
		answered := w.answering(ctx, ann, "Allow always")
		if x, err := w.agent(name).Execute(ctx, "tool:pre", command("deploy")); err != nil || !x.Permitted() {
			t.Fatalf("%s is not permitted: %+v, %v", name, x, err)
		}
		<-answered
	}
	grants := func(name string) int {
		info, err := ann.SessionOf(ctx, "nats agent/"+name, "s1")
		ok(t, err)
		return len(info.Grants)
	}
	for _, name := range []string{"rival", "ann", "guards", "keeper"} {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		m, err := w.conn(name).Conn().RequestWithContext(short, "hooks.session.close", []byte(`{"session_id":"s1","agent":"coder"}`))
		cancel()
		if err == nil {
			t.Errorf("%s ends the session of another: %s", name, m.Data)
		}
	}
	operator := w.conn("oscar").Conn()
	if got, text := code(t, operator, "hooks.session.close", `{"session_id":"s1"}`); got != "409" || !strings.Contains(text, "nats agent/rival") {
		t.Errorf("without a name: code %q, %s", got, text)
	}
	if got, text := code(t, operator, "hooks.session.close", `{"session_id":"s1","agent":"code"}`); got != "404" {
		t.Errorf("half a name: code %q, %s", got, text)
	}
	if got, text := code(t, operator, "hooks.session.close", `{"session_id":"s1","agent":"coder"}`); got != "" || text != `{"agent":"nats agent/coder"}` {
		t.Errorf("code %q, %s", got, text)
	}
	if grants("coder") != 0 || grants("rival") != 1 {
		t.Errorf("coder has %d grants, rival %d; want 0 and 1", grants("coder"), grants("rival"))
	}
}

// answering answers the next approval request, and tells whose event it is about.
func (w *authBus) answering(ctx context.Context, p *approver.Approver, option string) <-chan string {
	return w.answeringAs(ctx, p, approval.Answer{Option: option})
}

// answeringAs is answering with all that an answer may say.
func (w *authBus) answeringAs(ctx context.Context, p *approver.Approver, a approval.Answer) <-chan string {
	asked, done := make(chan string, 1), make(chan string, 1)
	watching, stop := context.WithCancel(ctx)
	go func() {
		_ = p.Watch(watching, func(n approval.Notice) {
			if n.Decision == nil {
				select {
				case asked <- n.Request.ID:
				default:
				}
			}
		})
	}()
	go func() {
		defer stop()
		id := <-asked
		record, err := p.Get(ctx, id)
		if a.Scope != "" && !slices.Contains(record.Scopes, a.Scope) {
			w.t.Errorf("%s is offered scopes %q; want %s too", id, record.Scopes, a.Scope)
		}
		if err == nil {
			a.DataSHA256 = record.DataSHA256
			_, err = p.Answer(ctx, id, a)
		}
		if err != nil {
			w.t.Error(err)
		}
		done <- record.Emitter
	}()
	return done
}

// TestAWorkerStaysWithinItsLimits (M4): it registers where it may, and a change that it may
// not make is none.
func TestAWorkerStaysWithinItsLimits(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	other, err := worker.New(w.client("others"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	narrows := func(context.Context, worker.Event) (worker.Result, error) { return worker.Modify(command("ls")) }
	fine := worker.Registration{ID: "other", Events: []string{"tool:pre"}, Priority: 100, TimeoutMS: 1000}
	for sentence, change := range map[string]func(*worker.Registration){
		"all events":    func(r *worker.Registration) { r.Events = []string{"*"} },
		"before guards": func(r *worker.Registration) { r.Priority = -100 },
		"for 30 s":      func(r *worker.Registration) { r.TimeoutMS = 30_000 },
	} {
		r := fine
		change(&r)
		if _, err := other.Register(t.Context(), r, narrows); hookrouter.CodeOf(err) != hookrouter.CodeForbidden {
			t.Errorf("%s: %v", sentence, err)
		}
	}
	if _, err := other.Register(t.Context(), fine, narrows); err != nil {
		t.Fatal(err)
	}
	x, err := w.agent("coder").Execute(t.Context(), "tool:pre", command("make"))
	if err != nil || !x.Permitted() || !strings.Contains(string(x.Data), "make") {
		t.Errorf("a worker that may not modify changed the data: %s, %+v, %v", x.Data, x, err)
	}
}

// TestAWorkerSeesItsFields: in each mode.
func TestAWorkerSeesItsFields(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	narrow, err := worker.New(w.client("narrow"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []chain.Mode{chain.Enforce, chain.Shadow, chain.Observe} {
		seen := make(chan string, 1)
		if _, err := narrow.Register(t.Context(), worker.Registration{ID: "narrow", Events: []string{"tool:pre"}, Mode: mode}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
			seen <- string(ev.Data)
			return worker.Continue()
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.agent("coder").Execute(t.Context(), "tool:pre", map[string]string{"tool_name": "Write", "content": "secret"}); err != nil {
			t.Fatal(err)
		}
		if data := testkit.Receive(t, "a call in mode "+string(mode), seen); data != `{"tool_name":"Write"}` {
			t.Errorf("in mode %s it sees %s", mode, data)
		}
		if err := narrow.Retire(t.Context(), "narrow"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAWorkerAsksForNoOtherField: whether it is called tells it nothing of what it doesn't see.
func TestAWorkerAsksForNoOtherField(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	narrow, err := worker.New(w.client("narrow"), worker.Options{})
	ok(t, err)
	called := make(chan struct{}, 1)
	for match, want := range map[string]bool{
		"data.tool_input.command.startsWith('s')": false, "tool.command.startsWith('s')": false, "has(data.tool_input)": false,
		"!has(data.tool_input)": true, "data.tool_name == 'Bash'": true,
	} {
		_, err := narrow.Register(t.Context(), worker.Registration{ID: "narrow", Events: []string{"tool:pre"}, Match: match}, func(context.Context, worker.Event) (worker.Result, error) {
			called <- struct{}{}
			return worker.Continue()
		})
		ok(t, err)
		_, err = w.agent("coder").Execute(t.Context(), "tool:pre", map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": "secret"}})
		ok(t, err)
		ok(t, narrow.Retire(t.Context(), "narrow"))
		got := len(called) > 0
		if got {
			<-called
		}
		if got != want {
			t.Errorf("%s: called: %t; want that a condition sees what the hook sees", match, got)
		}
	}
}

// TestRevokedCredentialsEnd: at once, for those that are connected too.
func TestRevokedCredentialsEnd(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	closed := make(chan struct{})
	w.conn("rival", nats.ClosedHandler(func(*nats.Conn) { close(closed) }), nats.NoReconnect())
	err := identity.Change(w.auth, func(a *identity.Authority) error {
		if _, err := a.Revoke("rival"); err != nil {
			return err
		}
		return identity.Push(t.Context(), a, w.conn("system"))
	})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Closed(t, "the connection of a revoked agent to end", closed)
	if c, err := natsx.Connect(natsx.Options{URL: w.s.ClientURL(), Creds: w.creds("rival")}); err == nil {
		c.Close()
		t.Error("revoked credentials connect")
	}
}
