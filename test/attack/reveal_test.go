package attack

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// maskedSecret is a key that the default rules mask.
const maskedSecret = "AKIAIOSFODNN7EXAMPLE"

// asked is an approval request about a call with a secret.
func asked(t *testing.T, worksAs, sendsAs *hookrouter.Client) (id string) {
	t.Helper()
	w, err := worker.New(worksAs, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	ask := func(context.Context, worker.Event) (worker.Result, error) { return chain.Question("Run it?"), nil }
	if _, err := w.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, ask); err != nil {
		t.Fatal(err)
	}
	pending := make(chan string, 1)
	a, err := agent.New(sendsAs, agent.Options{Session: "s1", OnPending: func(q verdict.Approval) { pending <- q.ID }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.Execute(ctx, "tool:pre", command("curl -H "+maskedSecret))
	}()
	t.Cleanup(func() { cancel(); <-done })
	return testkit.Receive(t, "an approval request", pending)
}

// revealed are the records of secrets that were shown.
func revealed(t *testing.T, w *authBus) (list []string) {
	t.Helper()
	ctx := testkit.Within(t, testkit.Patience)
	js, err := jetstream.New(w.conn("keeper").Conn())
	if err != nil {
		t.Fatal(err)
	}
	records, err := js.OrderedConsumer(ctx, "HOOKS_AUDIT", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"hooks.audit.w.>"}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := records.Next(jetstream.FetchMaxWait(testkit.Patience))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := audit.Lines(m.Data())
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if bytes.Contains(line, []byte(`"kind":"approval.revealed"`)) {
				list = append(list, string(line))
			}
		}
		if at, err := m.Metadata(); err != nil || at.NumPending == 0 {
			return list
		}
	}
}

// Only an admin sees secrets in approval requests, and each time is on record.
func TestSecretsAreRevealedToAnAdminOnRecord(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: recorder.Strict}}})
	id := asked(t, w.client("guards"), w.client("coder"))
	for _, who := range []string{"coder", "rival", "ann", "oscar", "guards"} {
		client := natstest.Client(t, hookrouter.Options{URL: w.s.ClientURL(), Creds: w.creds(who)})
		if r, err := approver.New(client).Reveal(testkit.Within(t, testkit.Patience), id); !errors.Is(err, hookrouter.ErrPermission) {
			t.Errorf("%s sees %s, %v", who, r.Data, err)
		}
	}
	admin := approver.New(w.client("admin"))
	ctx := testkit.Within(t, testkit.Patience)
	if r, err := admin.Get(ctx, id); err != nil || strings.Contains(string(r.Data), maskedSecret) {
		t.Errorf("shown: %s, %v", r.Data, err)
	}
	if r, err := admin.Reveal(ctx, id); err != nil || !strings.Contains(string(r.Data), maskedSecret) {
		t.Errorf("revealed: %s, %v", r.Data, err)
	}
	if _, err := admin.Reveal(ctx, "nosuch"); codeOf(err) != hookrouter.CodeNotFound {
		t.Errorf("an unknown request: %v", err)
	}
	list := revealed(t, w)
	if len(list) != 1 || !strings.Contains(list[0], `"by":"nats admin/admin"`) || strings.Contains(list[0], maskedSecret) {
		t.Errorf("recorded: %q", list)
	}
}

// Whoever can't be named on record sees no secrets, and nobody does without a record.
func TestSecretsAreNotRevealedToTheUnnamed(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	fleet(t, s)
	connected := func() *hookrouter.Client { return natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}) }
	id := asked(t, connected(), connected())
	r, err := approver.New(connected()).Reveal(testkit.Within(t, testkit.Patience), id)
	if codeOf(err) != hookrouter.CodeForbidden {
		t.Errorf("an open server shows %s, %v", r.Data, err)
	}
	w := newAuthBus(t, router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: recorder.Off}}})
	id = asked(t, w.client("guards"), w.client("coder"))
	if r, err := approver.New(w.client("admin")).Reveal(testkit.Within(t, testkit.Patience), id); codeOf(err) != hookrouter.CodeForbidden {
		t.Errorf("a router without an audit log shows %s, %v", r.Data, err)
	}
}

// codeOf is that of a router's refusal; 0 for none.
func codeOf(err error) hookrouter.Code {
	if e, ok := errors.AsType[*hookrouter.Error](err); ok {
		return e.Code
	}
	return 0
}
