package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
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
func flowBus(t *testing.T) (s nats.InProcessConnProvider, run func(session, line string, more nats.Header) verdict.Verdict) {
	t.Helper()
	s = natstest.Server(t)
	for range 2 {
		routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	}
	hook(t, s, worker.Registration{ID: "flows", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed}, flows)
	attacker, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	return s, func(session, line string, more nats.Header) (v verdict.Verdict) {
		t.Helper()
		header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {nats.NewInbox()}, "ce-source": {"/attacker"}, "ce-type": {"tool:pre"}, "ce-subject": {session}, "Hook-Wait-Ms": {"1"}}
		for name, values := range more {
			header[name] = values
		}
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
	_, run := flowBus(t)
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
	_, run := flowBus(t)
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
	s, run := flowBus(t)
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
	s, run := flowBus(t)
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
