package attack

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// mirrors has the archive make them.
func (w *authBus) mirrors(t *testing.T, ctx context.Context) {
	t.Helper()
	nc := w.conn("arch")
	for _, name := range []string{"HOOKS_AUDIT", "HOOKS_CHECKPOINTS"} {
		config := strings.ReplaceAll(`{"name":"NAME","storage":"file","retention":"limits","discard":"new","num_replicas":1,"deny_delete":true,"deny_purge":true,
			"mirror":{"name":"NAME","external":{"api":"routers.API","deliver":"audit.copy"}}}`, "NAME", name)
		m, err := nc.Request(ctx, "$JS.API.STREAM.CREATE."+name, nil, []byte(config))
		if err != nil || strings.Contains(string(m.Data), `"error"`) {
			t.Fatalf("mirror %s: %v, %+v", name, err, m)
		}
	}
}

// TestAuditorsReadAndWitnessesSign: with generated credentials, in an account from which
// nothing but signatures reaches the routers.
func TestAuditorsReadAndWitnessesSign(t *testing.T) {
	t.Parallel()
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	ok(t, err)
	private, public, err := note.GenerateKey(nil, "wendy")
	ok(t, err)
	sign, err := note.NewSigner(private)
	ok(t, err)
	verify, err := note.NewVerifier(public)
	ok(t, err)
	w := newAuthBus(t, router.Options{Audit: auditlog.Options{Key: key}}, append(auditing, identity.Identity{Name: "wendy", Role: identity.Witness, Witness: witness.ID(verify)})...)
	ctx := testkit.Within(t, testkit.Patience)
	w.mirrors(t, ctx)
	if _, err := w.agent("coder").Emit(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	signed := make(chan witness.Event, 64)
	watch, err := witness.New(w.conn("wendy"), witness.Options{
		Signer: sign, Verifier: verify, Routers: []note.Verifier{key.Verifier}, State: filepath.Join(t.TempDir(), "state.json"), Every: time.Second,
		Tell: func(e witness.Event) { signed <- e },
	})
	ok(t, err)
	watching, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- watch.Run(watching) }()
	testkit.Until(t, ctx, "the witness signs", func() bool { return testkit.Receive(t, "an event of the witness", signed).Kind == "signed" })
	stop()
	ok(t, <-done)

	log, err := store.Attach(ctx, w.conn("ada"))
	ok(t, err)
	testkit.Until(t, ctx, "the auditor reads the event", func() bool {
		found := false
		err := log.Records(ctx, func(body []byte) bool { found = found || strings.Contains(string(body), "chain.result"); return !found })
		return err == nil && found
	})
	within, err := store.Attach(ctx, w.conn("keeper"))
	ok(t, err)
	led := w.conn("wilma").Conn()
	for _, reply := range []string{"hooks.cosigned.HOOKS_AUDIT.led", "hooks.audit.w.led"} { // where the answer of the store would be a record
		ok(t, led.PublishRequest("$JS.API.STREAM.INFO.HOOKS_AUDIT", reply, nil))
	}
	if _, err := w.conn("wilma").Request(ctx, "$JS.API.STREAM.INFO.HOOKS_AUDIT", nil, nil); err != nil { // NATS has answered those before
		t.Error(err)
	}
	if rec, err := within.CheckpointNotes().Newest(ctx, "hooks.cosigned.HOOKS_AUDIT.led"); err == nil {
		t.Errorf("an answer that NATS gave a witness came into the log: %s", rec.Body)
	}
}
