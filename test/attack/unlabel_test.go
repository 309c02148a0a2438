package attack

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// unlabelBus is a flowBus whose reads a person is asked about. unlabels says that to allow a read
// removes its label. allow answers a request; again sends a read again that was asked about.
func unlabelBus(t *testing.T, unlabels bool) (run func(session, line string, more nats.Header) verdict.Verdict, allow func(verdict.Verdict), again func() verdict.Verdict) {
	t.Helper()
	s, run := flowBus(t, router.Options{})
	hook(t, s, worker.Registration{ID: "asks", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed, Priority: 5}, func(_ context.Context, ev worker.Event) (r worker.Result, err error) {
		if strings.Contains(string(ev.Data), `"read `) {
			if r, err = worker.Ask("Read?", "Allow once", "Deny"); unlabels {
				r.Unlabel = []string{"secret"}
			}
		}
		return r, err
	})
	person, ctx := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)})), testkit.Within(t, testkit.Patience)
	allow = func(asked verdict.Verdict) {
		t.Helper()
		if asked.Action != verdict.Pending {
			t.Fatalf("%+v; want a question", asked)
		}
		if _, err := person.Answer(ctx, asked.Approval.ID, approval.Answer{Option: "Allow once"}); err != nil {
			t.Fatal(err)
		}
	}
	again = func() verdict.Verdict {
		t.Helper()
		return run("s", "read secret", nats.Header{"ce-id": {"read"}, "Hook-Retry": {"1"}, "Hook-Wait-Ms": {"20000"}})
	}
	return run, allow, again
}

// A read that waits for a person, or that is permitted again, brings its label when its agent is
// permitted: a person may have removed the label meanwhile.
func TestAPermittedReadHasItsLabel(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"send", "read", "read twice"} {
		run, allow, again := unlabelBus(t, false)
		read := run("s", "read secret", nats.Header{"ce-id": {"read"}})
		if first != "send" {
			allow(read)
		}
		if first == "read twice" {
			again()
		}
		send := run("s", "please", nil)
		allow(send)
		if first == "send" {
			if v := run("s", "send", nil); v.Action != verdict.Continue {
				t.Errorf("%+v; want that the person removed the label", v)
			}
			allow(read)
		}
		if v := again(); v.Action != verdict.Continue {
			t.Errorf("%s first: %+v; want that the read is permitted", first, v)
		}
		if v := run("s", "send", nil); v.Action != verdict.Deny {
			t.Errorf("%s first: %+v; want that the session has the label again", first, v)
		}
	}
}

// What an event brings, the answer to its own question does not remove.
func TestAnEventDoesNotRemoveWhatItBrings(t *testing.T) {
	t.Parallel()
	run, allow, again := unlabelBus(t, true)
	asked := run("s", "read secret", nats.Header{"ce-id": {"read"}})
	if strings.Contains(asked.Approval.Prompt, "removes") {
		t.Errorf("the prompt says %q", asked.Approval.Prompt)
	}
	allow(asked)
	if v := again(); v.Action != verdict.Continue {
		t.Errorf("%+v; want that the read is permitted", v)
	}
	if v := run("s", "send", nil); v.Action != verdict.Deny {
		t.Errorf("%+v; want that the session keeps the label", v)
	}
}

// Who is asked about a session does not remove what another had that joins it meanwhile.
func TestAClaimAfterTheQuestionKeepsLabels(t *testing.T) {
	t.Parallel()
	s, run := flowBus(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	for _, c := range []struct {
		claims, claimed string
		want            verdict.Action
	}{{"small", "large", verdict.Deny}, {"large", "small", verdict.Deny}, {"small", "new", verdict.Continue}, {"new", "small", verdict.Continue}} {
		of := func(session string) string { return c.claims + c.claimed + session }
		run(of("large"), "read secret", nil)
		run(of("small"), "read secret", nil)
		asked := run(of("small"), "please", nil)
		run(of(c.claims), "look", nats.Header{"ce-hookparent": {of(c.claimed)}})
		if _, err := person.Answer(ctx, asked.Approval.ID, approval.Answer{Option: "Allow once"}); err != nil {
			t.Fatal(err)
		}
		if v := run(of("large"), "send", nil); v.Action != verdict.Deny {
			t.Errorf("%s claims %s: the other session: %+v", c.claims, c.claimed, v)
		}
		if v := run(of("small"), "send", nil); v.Action != c.want {
			t.Errorf("%s claims %s: the session: %+v; want %s", c.claims, c.claimed, v, c.want)
		}
	}
}

// What a pinned guard says of changed data counts like what it says at first: a label that comes with
// an injection stays, and the hooks after the guard see it.
func TestALabelOfASecondJudgementStays(t *testing.T) {
	t.Parallel()
	s, _ := pinnedBus(t)
	guard(t, s, worker.Registration{ID: "guard"}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if !strings.Contains(string(ev.Data), "secret") {
			return worker.Continue()
		}
		return worker.Result{Action: "inject_context", ContextInjection: "Keep it.", Labels: []string{"secret"}}, nil
	})
	hook(t, s, worker.Registration{ID: "links", Priority: 10}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if !strings.Contains(string(ev.Data), "link") {
			return worker.Continue()
		}
		return worker.Modify(json.RawMessage(strings.ReplaceAll(string(ev.Data), "link", "secret")))
	})
	guard(t, s, worker.Registration{ID: "flows", Priority: 20}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "send") && len(ev.Labels()) > 0 {
			return worker.Deny("not after %s", ev.Labels())
		}
		return worker.Continue()
	})
	a, ctx := client(t, s), testkit.Within(t, testkit.Patience)
	for _, c := range []struct {
		line    string
		permits bool
	}{{"send mail", true}, {"read link and send it", false}, {"read link", true}, {"send mail", false}} {
		if x, err := a.Execute(ctx, "tool:pre", command(c.line)); err != nil || x.Permitted() != c.permits {
			t.Errorf("%s: %+v, %v; want permitted: %v", c.line, x, err, c.permits)
		}
	}
}
