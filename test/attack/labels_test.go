package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// flows is what a flow guard is in small: "read NAME" gives the session the label NAME,
// "send" is denied where there is one, and asked where it begins with "please". "alone NAME"
// gives the label, and is denied where there is another.
func flows(_ context.Context, ev worker.Event) (r worker.Result, err error) {
	var data struct {
		Command string `json:"command"`
	}
	if err := ev.Decode(&data); err != nil {
		return r, err
	}
	verb, name, _ := strings.Cut(data.Command, " ")
	switch {
	case verb == "alone" && slices.ContainsFunc(ev.Labels(), func(label string) bool { return label != name }):
		r, err = worker.Deny("not after %s", ev.Labels())
	case verb == "send" && len(ev.Labels()) > 0:
		r, err = worker.Deny("seen: %s", ev.Labels())
	case verb == "please" && len(ev.Labels()) > 0:
		r, err = worker.Ask("Send it, after "+strings.Join(ev.Labels(), ", ")+"?", "Allow once", "Allow always", "Deny")
		r.Unlabel = ev.Labels()
	}
	if verb == "read" || verb == "alone" {
		r.Labels = []string{name}
	}
	return r, err
}

// flowBus is two replicas with a flow guard. run sends a command as an agent would, with
// more headers, and returns the verdict.
func flowBus(t *testing.T, o router.Options) (s nats.InProcessConnProvider, run func(session, line string, more nats.Header) verdict.Verdict) {
	t.Helper()
	s = natstest.Server(t)
	for range 2 {
		routertest.Start(t, s, o, natsx.Options{Inbox: "_INBOX_router"})
	}
	hook(t, s, worker.Registration{ID: "flows", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed}, flows)
	attacker, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	return s, func(session, line string, more nats.Header) (v verdict.Verdict) {
		t.Helper()
		header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {nats.NewInbox()}, "ce-source": {"/attacker"}, "ce-type": {"tool:pre"}, "ce-subject": {session}, "Hook-Wait-Ms": {"1"}}
		maps.Copy(header, more)
		m, err := attacker.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Header: header, Data: command(line)})
		if err != nil {
			t.Error(err)
			return v
		}
		if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
			return verdict.Verdict{Action: "refused", Reason: m.Header.Get("Nats-Service-Error")}
		}
		if err := json.Unmarshal(m.Data, &v); err != nil {
			t.Error(err)
		}
		return v
	}
}

// As soon as an agent may know what it read, every replica knows that it read it.
func TestLabelsCannotBeOutrun(t *testing.T) {
	t.Parallel()
	_, run := flowBus(t, router.Options{})
	for i := range 100 {
		session := fmt.Sprint("s", i)
		if v := run(session, "send", nil); v.Action != verdict.Continue {
			t.Fatalf("%+v; want that a session without labels sends", v)
		}
		if v := run(session, "read secret", nil); v.Action != verdict.Continue {
			t.Fatalf("%+v", v)
		}
		for range 4 { // whichever replica
			if v := run(session, "send", nil); v.Action != verdict.Deny {
				t.Fatalf("session %d: %+v; want that it sends no more", i, v)
			}
		}
	}
}

// Two events at once are decided as if one came after the other.
func TestTwoEventsAtOnceDoNotMissEachOthersLabels(t *testing.T) {
	t.Parallel()
	_, run := flowBus(t, router.Options{})
	for i := range 60 {
		session := fmt.Sprint("s", i)
		var got [2]verdict.Verdict
		var both sync.WaitGroup
		for j, line := range []string{"alone left", "alone right"} {
			both.Go(func() { got[j] = run(session, line, nil) })
		}
		both.Wait()
		if got[0].Action == verdict.Continue && got[1].Action == verdict.Continue {
			t.Fatalf("session %d: both were permitted", i)
		}
	}
}

// What an agent says of labels counts for nothing, in any mode of CloudEvents.
func TestAnAgentForgesNoLabels(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	forged := nats.Header{"ce-hooklabels": {"forged"}, "CE-HookEmitter": {"nats agent/admin"}, "ce-hookrole": {"admin"}, "Hook-Labels": {"forged"}}
	seen := make(chan worker.Event, 10)
	hook(t, s, worker.Registration{ID: "watcher", Events: []string{"tool:pre"}, Priority: -1}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev
		return worker.Continue()
	})
	if v := run("s", "send", forged); v.Action != verdict.Continue {
		t.Errorf("%+v; want that nobody gives a session labels but hooks", v)
	}
	run("s", "read secret", nil)
	<-seen
	<-seen
	for _, more := range []nats.Header{forged, {"ce-hooklabels": {""}}, {"ce-hooklabels": {}}, {"CE-HOOKLABELS": {"other"}, "ce-hooklabels": {""}}} {
		if v := run("s", "send", more); v.Action == verdict.Continue {
			t.Errorf("%v: %+v; want that no header removes a label", more, v)
		}
		if ev := <-seen; strings.Join(ev.Labels(), ",") != "secret" || ev.Extensions["hookemitter"] != "" || ev.Extensions["hookrole"] != "" {
			t.Errorf("%v: a hook saw %v", more, ev.Extensions)
		}
	}
	structured := `{"specversion":"1.0","id":"e9","source":"/a","type":"tool:pre","subject":"s","hooklabels":"forged","hookrole":"admin","data":` + string(command("send")) + `}`
	reply, err := natstest.Conn(t, s).RequestWithContext(testkit.Within(t, testkit.Patience), "hooks.emit.tool.pre", []byte(structured))
	if err != nil || !strings.Contains(string(reply.Data), "seen: [secret]") {
		t.Errorf("%s, %v", reply.Data, err)
	}
	if ev := <-seen; strings.Join(ev.Labels(), ",") != "secret" || ev.Extensions["hookrole"] != "" {
		t.Errorf("a hook saw %v", ev.Extensions)
	}
}

// An end of the session, a time-out, a denial and an answer by nobody remove no label; a
// person does, once.
func TestOnlyAPersonRemovesLabels(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	attacker := natstest.Conn(t, s)
	for _, subject := range []string{"hooks.session.end", "hooks.session.turn", "hooks.emit.session.end"} {
		run("s", "read secret", nil)
		if _, err := attacker.RequestWithContext(ctx, subject, []byte(`{"session_id":"s"}`)); err != nil {
			t.Fatal(err)
		}
		if v := run("s", "send", nil); v.Action != verdict.Deny {
			t.Errorf("after %s: %+v", subject, v)
		}
	}
	asked := run("s", "please", nil)
	if asked.Action != verdict.Pending || !strings.Contains(asked.Approval.Prompt, "removes from the session: secret") {
		t.Fatalf("%+v; want a question that says what is removed", asked)
	}
	if _, err := person.Answer(ctx, asked.Approval.ID, approval.Answer{Option: "Deny"}); err != nil {
		t.Fatal(err)
	}
	if v := run("s", "send", nil); v.Action != verdict.Deny {
		t.Errorf("after a denial: %+v", v)
	}
	if _, err := person.Answer(ctx, run("s", "please ", nil).Approval.ID, approval.Answer{Option: "Allow always"}); err != nil {
		t.Fatal(err)
	}
	if v := run("s", "send", nil); v.Action != verdict.Continue {
		t.Errorf("once a person allowed it: %+v", v)
	}
	run("s", "read secret", nil)
	if v := run("s", "please", nil); v.Action != verdict.Continue {
		t.Errorf("%+v; want that it is always allowed", v)
	}
	if v := run("s", "send", nil); v.Action != verdict.Deny {
		t.Errorf("%+v; want that what was always allowed removes no label", v)
	}
}

// A person removes what the session had seen when they were asked. An agent that reads another
// secret while they think keeps the label, whichever session of its tree reads it.
func TestAnApprovalRemovesNoLaterLabel(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	for i, c := range []struct {
		meanwhile func(session string)
		want      verdict.Action
	}{
		{func(string) {}, verdict.Continue},
		{func(session string) { run(session, "read secret", nil) }, verdict.Deny},
		{func(session string) { run(session+"-child", "read secret", nil) }, verdict.Deny},
	} {
		session := fmt.Sprint("s", i)
		run(session+"-child", "look", nats.Header{"ce-hookparent": {session}})
		for round := range 2 {
			run(session, "read secret", nil)
			asked := run(session, fmt.Sprint("please ", round), nil)
			c.meanwhile(session)
			if _, err := person.Answer(ctx, asked.Approval.ID, approval.Answer{Option: "Allow once"}); err != nil {
				t.Fatal(err)
			}
			if v := run(session, "send", nil); v.Action != c.want {
				t.Errorf("%d, round %d: %+v; want %s", i, round, v, c.want)
			}
		}
	}
}

// A permission is for what the session had seen when a person was asked: sent again after it
// has seen more, the event is refused, also where the person removed what it sees again.
func TestAnApprovalDoesNotOutliveLabels(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	for _, c := range []struct{ session, before, after string }{
		{"between", "read web", ""}, {"later", "", "read web"}, {"again", "", "read secret"},
	} {
		again := nats.Header{"ce-id": {"send-" + c.session}, "Hook-Retry": {"1"}, "Hook-Wait-Ms": {"20000"}}
		run(c.session, "read secret", nil)
		asked := run(c.session, "please", nats.Header{"ce-id": again["ce-id"]})
		if asked.Action != verdict.Pending {
			t.Fatalf("%s: %+v; want a question", c.session, asked)
		}
		if c.before != "" {
			run(c.session, c.before, nil)
		}
		if _, err := person.Answer(ctx, asked.Approval.ID, approval.Answer{Option: "Allow once"}); err != nil {
			t.Fatal(err)
		}
		if c.after != "" {
			if v := run(c.session, "please", again); v.Action != verdict.Continue {
				t.Errorf("%s: %+v; want that an agent that lost its router gets its permission", c.session, v)
			}
			run(c.session, c.after, nil)
		}
		for _, header := range []nats.Header{again, {"ce-id": again["ce-id"]}} {
			if v := run(c.session, "please", header); v.Action != "refused" || !strings.Contains(v.Reason, "has seen more") {
				t.Errorf("%s: %+v; want that it is refused", c.session, v)
			}
		}
	}
}

// An event sent again while a person is asked about it, after its session has seen more, is
// judged anew: the old request ends at once, a new one says what the session has seen, and
// its answer holds, a denial also once the session has seen still more.
func TestAnOutdatedRequestIsAskedAnew(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	for _, c := range []struct {
		session, answer string
		want            verdict.Action
		retry           bool
	}{{"allowed", "Allow once", verdict.Continue, true}, {"denied", "Deny", verdict.Deny, true}, {"plain", "Allow once", verdict.Continue, false}} {
		header := nats.Header{"ce-id": {"send-" + c.session}}
		patient := nats.Header{"ce-id": header["ce-id"], "Hook-Retry": {"1"}, "Hook-Wait-Ms": {"20000"}}
		again := maps.Clone(header)
		if c.retry {
			again["Hook-Retry"] = []string{"1"}
		}
		run(c.session, "read secret", nil)
		first := run(c.session, "please", header)
		waits := make(chan verdict.Verdict)
		go func() { waits <- run(c.session, "please", patient) }()
		run(c.session, "read web", nil)
		second := run(c.session, "please", again)
		if first.Action != verdict.Pending || second.Action != verdict.Pending || second.Approval.ID == first.Approval.ID || !strings.Contains(second.Approval.Prompt, "web") {
			t.Fatalf("%s: %+v, then %+v; want a second question", c.session, first.Approval, second.Approval)
		}
		if _, err := person.Answer(ctx, first.Approval.ID, approval.Answer{Option: "Allow once"}); hookrouter.CodeOf(err) != hookrouter.CodeConflict {
			t.Errorf("%s: the first question takes an answer: %v", c.session, err)
		}
		if third := run(c.session, "please", again); third.Action != verdict.Pending || third.Approval.ID != second.Approval.ID {
			t.Errorf("%s: %+v; want that nobody is asked twice", c.session, third)
		}
		if _, err := person.Answer(ctx, second.Approval.ID, approval.Answer{Option: c.answer}); err != nil {
			t.Fatal(err)
		}
		if v := <-waits; v.Action == verdict.Continue && c.want != verdict.Continue {
			t.Errorf("%s: who waits for the first gets %+v", c.session, v)
		}
		if v := run(c.session, "please", patient); v.Action != c.want {
			t.Errorf("%s: %+v; want %s", c.session, v, c.want)
		}
		if c.want == verdict.Deny {
			run(c.session, "read more", nil)
			if v := run(c.session, "please", patient); v.Action != verdict.Deny {
				t.Errorf("%s: %+v; want that a denial stays one", c.session, v)
			}
		}
	}
	testkit.Eventually(t, "no question is open", func() bool {
		_, open, err := person.Pending(ctx, approval.Filter{})
		return err == nil && open == 0
	})
}

// An agent that waits while its session sees more gets no permission: the person knew less.
// "Allow always" answers for what the session had seen when it was given, and for no more.
func TestAWaitingAgentGainsNothingByLabels(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	watcher := natstest.Conn(t, s)
	asked, err := watcher.SubscribeSync("hooks.event.approval.required")
	if err != nil || watcher.Flush() != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session, meanwhile string
		want               verdict.Action
	}{{"same", "x", verdict.Continue}, {"more", "read web", verdict.Deny}} {
		run(c.session, "read secret", nil)
		waits := make(chan verdict.Verdict)
		go func() { waits <- run(c.session, "please", nats.Header{"Hook-Wait-Ms": {"20000"}}) }()
		var notice approval.Request
		if m, err := asked.NextMsgWithContext(ctx); err != nil || json.Unmarshal(m.Data, &notice) != nil {
			t.Fatal(err)
		}
		run(c.session, c.meanwhile, nil)
		if _, err := person.Answer(ctx, notice.ID, approval.Answer{Option: "Allow always"}); err != nil {
			t.Fatal(err)
		}
		if v := <-waits; v.Action != c.want || v.Action == verdict.Deny && !strings.Contains(v.Reason, "has seen more: web") {
			t.Errorf("%s: %+v; want %s", c.session, v, c.want)
		}
	}
	always := func(session string) verdict.Verdict { return run(session, "plea", nil) }
	hook(t, s, worker.Registration{ID: "asks", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), `"plea"`) {
			return worker.Ask("Always?", "Allow always", "Deny")
		}
		return worker.Continue()
	})
	if _, err := person.Answer(ctx, always("g").Approval.ID, approval.Answer{Option: "Allow always"}); err != nil {
		t.Fatal(err)
	}
	if v := always("g"); v.Action != verdict.Continue {
		t.Errorf("%+v; want that it is always allowed", v)
	}
	run("g", "read secret", nil)
	again := always("g")
	if again.Action != verdict.Pending {
		t.Fatalf("%+v; want that a person is asked once the session has seen more", again)
	}
	if _, err := person.Answer(ctx, again.Approval.ID, approval.Answer{Option: "Allow always"}); err != nil {
		t.Fatal(err)
	}
	if v := always("g"); v.Action != verdict.Continue {
		t.Errorf("%+v; want that the second answer holds for a session with the label", v)
	}
}

// A rule for sessions that have not seen something answers for no other, whether the event
// itself or an earlier one brought the label, and by whichever replica.
func TestARuleForCleanSessionsAnswersForNoOther(t *testing.T) {
	t.Parallel()
	rules, err := approval.ParseRules("r", []byte("rules: [{name: clean, decision: allow, hook: flows, labels: {none: [web]}}]"))
	if err != nil {
		t.Fatal(err)
	}
	s, run := flowBus(t, router.Options{Dispatch: dispatch.Options{Rules: rules}})
	hook(t, s, worker.Registration{ID: "also", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (r worker.Result, err error) {
		if strings.Contains(string(ev.Data), "also") {
			r.Labels = []string{"web"}
		}
		return r, nil
	})
	run("s", "read secret", nil)
	if v := run("s", "please", nats.Header{"Hook-Wait-Ms": {"20000"}}); v.Action != verdict.Continue || v.Approval.DecidedBy != "rule clean" {
		t.Errorf("%+v; want that the rule answers", v)
	}
	if v := run("s", "please also", nil); v.Action != verdict.Pending {
		t.Errorf("%+v; want that it does not for an event that brings the label", v)
	}
	for range 4 {
		if v := run("s", "please", nil); v.Action != verdict.Pending {
			t.Errorf("%+v; want that it does not once the session has the label", v)
		}
	}
}

// A claim to be below another session only adds: it takes labels over, and drops none.
func TestLineageOnlyAdds(t *testing.T) {
	t.Parallel()
	_, run := flowBus(t, router.Options{})
	below := func(parent, root string) nats.Header {
		return nats.Header{"ce-hookparent": {parent}, "ce-hookroot": {root}, "ce-hookdepth": {"-7"}}
	}
	run("root", "read secret", nil)
	if v := run("child", "send", below("root", "root")); v.Action != verdict.Deny {
		t.Errorf("%+v; want that a child has the labels of its parent at once", v)
	}
	if v := run("child", "send", nil); v.Action != verdict.Deny {
		t.Errorf("%+v; want that it stays below", v)
	}
	if v := run("child", "send", below("clean", "clean")); v.Action != verdict.Deny {
		t.Errorf("%+v; want that another root drops nothing", v)
	}
	run("child", "read web", nil)
	if v := run("root", "send", nil); v.Action != verdict.Deny || !strings.Contains(v.Reason, "web") {
		t.Errorf("%+v; want that a parent has what its child has seen", v)
	}
	if v := run("stranger", "send", nil); v.Action != verdict.Continue {
		t.Errorf("%+v; want that others send", v)
	}
	run("late", "read secret", nil)
	for i := range 40 { // more than are kept
		run("full", "x", below(fmt.Sprint("other", i), ""))
	}
	if v := run("full", "send", below("late", "")); v.Action == verdict.Continue {
		t.Errorf("%+v; want that no number of parents hides another", v)
	}
	if v := run("full", "send", below("other0", "")); v.Action != verdict.Continue {
		t.Errorf("%+v; want that it goes on with the parents that it has", v)
	}
	if v := run("long", "send", below(strings.Repeat("a", 600), "")); v.Action != "refused" {
		t.Errorf("%+v; want that an id that is too long is refused", v)
	}
}

// With a proven identity a new session id escapes nothing, and neither does an event without
// one; another identity labels nobody, but takes over what it claims to be below.
func TestANewSessionIDDropsNoLabels(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	guards, err := worker.New(w.client("guards"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan worker.Event, 1)
	if _, err := guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev
		return flows(ctx, ev)
	}); err != nil {
		t.Fatal(err)
	}
	ctx := testkit.Within(t, testkit.Patience)
	send := func(name string, o agent.Options, line string) (bool, worker.Event) {
		t.Helper()
		a, err := agent.New(w.client(name), o)
		if err != nil {
			t.Fatal(err)
		}
		x, err := a.Execute(ctx, "tool:pre", command(line))
		if err != nil {
			t.Fatal(err)
		}
		return x.Permitted(), <-seen
	}
	if ok, ev := send("rival", agent.Options{Session: "s1"}, "read forged"); !ok || ev.Extensions["hookemitter"] != "nats agent/rival" || ev.Extensions["hookrole"] != "agent" {
		t.Fatalf("%v %v", ok, ev.Extensions)
	}
	if ok, ev := send("coder", agent.Options{Session: "s1"}, "send"); !ok {
		t.Errorf("another agent labels the session: %v", ev.Extensions)
	}
	send("coder", agent.Options{Session: "s1"}, "read secret")
	for _, session := range []string{"s2", ""} {
		if ok, ev := send("coder", agent.Options{Session: session}, "send"); ok {
			t.Errorf("session %q escapes: %v", session, ev.Extensions)
		}
	}
	ann := approver.New(w.client("ann"))
	if info, err := ann.SessionOf(ctx, "coder", "s1"); err != nil || info.Agent != "nats agent/coder" || !slices.Equal(info.Labels, []string{"secret"}) {
		t.Errorf("people see %+v, %v; want the labels of coder", info, err)
	}
	if _, err := ann.Session(ctx, "s1"); hookrouter.CodeOf(err) != hookrouter.CodeConflict || !strings.Contains(err.Error(), `"nats agent/coder" or "nats agent/rival"`) {
		t.Errorf("%v; want that two agents have such a session", err)
	}
	if ok, ev := send("rival", agent.Options{Session: "r2", Parent: "s1"}, "send"); ok || !slices.Contains(ev.Labels(), "secret") || ev.Extensions["hookparent"] != "s1" || ev.Extensions["hookdepth"] != "1" {
		t.Errorf("a sub-agent of another identity: %v, %v", ok, ev.Extensions)
	}
	if info, err := ann.Session(ctx, "r2"); err != nil || info.Agent != "nats agent/rival" || info.Parent != "s1" {
		t.Errorf("people see %+v, %v; want the session below s1", info, err)
	}
	if _, ev := send("coder", agent.Options{Session: "s1"}, "x"); slices.Contains(ev.Labels(), "forged") {
		t.Errorf("a claim labels the session of another: %v", ev.Extensions)
	}
}

// A session id that is no text would be another one once it was stored: what the session has
// seen would be lost, or be that of a sender that nobody is.
func TestASessionIDThatIsNoTextDropsNoLabels(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	guards, err := worker.New(w.client("guards"), worker.Options{})
	ok(t, err)
	_, err = guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed}, flows)
	ok(t, err)
	coder, ctx := w.conn("coder").Conn(), testkit.Within(t, testkit.Patience)
	permits := func(line string, header nats.Header) bool {
		t.Helper()
		all := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {nats.NewInbox()}, "ce-source": {"/attacker"}, "ce-type": {"tool:pre"}}
		maps.Copy(all, header)
		m, err := coder.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Header: all, Data: command(line)})
		ok(t, err)
		return strings.Contains(string(m.Data), `"action":"continue"`)
	}
	odd := []string{"s%00", "s%00nats%20agent/coder", "%FF", "s%ED%A0%80"}
	for _, id := range odd {
		if permits("read secret", nats.Header{"ce-subject": {id}}) && (permits("send", nats.Header{"ce-subject": {id}}) || permits("send", nats.Header{"ce-subject": {"clean"}})) {
			t.Errorf("what it read in the session %q, it sends", id)
		}
		if permits("read secret", nats.Header{"ce-subject": {"below"}, "ce-hookparent": {id}}) {
			t.Errorf("a session is below %q", id)
		}
	}
	if !permits("read secret", nats.Header{"ce-subject": {"clean"}}) || permits("send", nats.Header{"ce-subject": {"other"}}) {
		t.Fatal("the guard does not work")
	}
	for _, id := range odd {
		if permits("send", nats.Header{"ce-subject": {id}}) {
			t.Errorf("what it read elsewhere, it sends in the session %q", id)
		}
	}
}
