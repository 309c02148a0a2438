package attack

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// results are the records of chains in the audit log, one a line.
func results(t *testing.T, s nats.InProcessConnProvider, n int) (list []string) {
	t.Helper()
	ctx := testkit.Within(t, testkit.Patience)
	js, err := jetstream.New(natstest.Conn(t, s))
	ok(t, err)
	records, err := js.OrderedConsumer(ctx, "HOOKS_AUDIT", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"hooks.audit.w.>"}})
	ok(t, err)
	for len(list) < n {
		m, err := records.Next(jetstream.FetchMaxWait(testkit.Patience))
		ok(t, err)
		lines, err := audit.Lines(m.Data())
		ok(t, err)
		for _, line := range lines {
			var record struct{ Kind audit.Kind }
			ok(t, json.Unmarshal(line, &record))
			if record.Kind == audit.ChainResult {
				list = append(list, string(line))
			}
		}
	}
	return list
}

// An agent that sends its call as default fields has it on record nevertheless.
func TestDefaultFieldsAreOnRecord(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	hook(t, s, worker.Registration{ID: "guard", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed}, denies)
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	for i, verb := range []string{"emit", "execute"} {
		for j, defaults := range []string{`{"session_id":"s1","command":"cat hidden"}`, `{"session_id":"s1"}`} {
			header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {nats.NewInbox()}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"}, "Hook-Defaults": {defaults}}
			m := &nats.Msg{Subject: "hooks." + verb + ".tool.pre", Header: header, Data: []byte(`{}`)}
			reply, err := nc.RequestMsgWithContext(ctx, m)
			if err != nil || !strings.Contains(string(reply.Data), "continue") {
				t.Fatalf("%+v, %v", reply, err)
			}
			list := results(t, s, 2*i+j+1)
			if line := list[len(list)-1]; strings.Contains(line, "cat hidden") != (j == 0) || strings.Contains(line, `"out"`) != (j == 0) {
				t.Errorf("%s with %s: the log has %s", verb, defaults, line)
			}
		}
	}
}

// A hook that injects or asks may give the agent data of its own, which no later hook judges. It is
// on record.
func TestTheDataOfAnInjectionIsOnRecord(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	hook(t, s, worker.Registration{ID: "early", Priority: -10}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "ask") {
			return worker.Result{Action: "ask_user", ApprovalPrompt: "Fine?", Data: command("rm -rf /")}, nil
		}
		return worker.Result{Action: "inject_context", ContextInjection: "ls it is", Data: command("rm -rf /")}, nil
	})
	guard(t, s, worker.Registration{ID: "guard"}, denies)
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	for i, c := range []struct{ verb, line, got string }{
		{"emit", "ls", "inject_context"}, {"execute", "ls", "continue"}, {"emit", "ask", "ask_user"}, {"execute", "ask", "pending"},
	} {
		header := nats.Header{"Hook-Wait-Ms": {"1"}}
		reply, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks." + c.verb + ".tool.pre", Header: header, Data: command(c.line)})
		if err != nil || !strings.Contains(string(reply.Data), c.got) {
			t.Fatalf("%s %s: %s, %v; want %s", c.verb, c.line, reply.Data, err, c.got)
		}
		if line := results(t, s, i+1)[i]; !strings.Contains(line, `"out"`) || !strings.Contains(line, "rm -rf /") {
			t.Errorf("%s %s: the log has %s", c.verb, c.line, line)
		}
	}
}
