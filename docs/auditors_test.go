package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// audited is a router, with a key, in the accounts that the operator's reference
// gives auditors and witnesses.
func audited(t *testing.T, ctx context.Context) (f *fenced, key *signer.Key) {
	t.Helper()
	f = accounts(t, "### Auditors and witnesses\n")
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.start(t, ctx, router.Options{Audit: auditlog.Options{Key: key}}, "router"))
	return f, key
}

// mirror makes the mirrors, of the form that the reference gives.
func (f *fenced) mirror(t *testing.T, ctx context.Context) {
	t.Helper()
	_, part, _ := strings.Cut(read(t, "permissions.md"), "### Auditors and witnesses\n")
	_, part, _ = strings.Cut(part, "```json\n")
	config, _, _ := strings.Cut(part, "```")
	nc, err := nats.Connect(f.url("archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, name := range []string{"HOOKS_AUDIT", "HOOKS_CHECKPOINTS"} {
		m, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.CREATE."+name, []byte(strings.ReplaceAll(config, "HOOKS_AUDIT", name)))
		if err != nil || strings.Contains(string(m.Data), `"error"`) {
			t.Fatalf("mirror %s: %v %s", name, err, m.Data)
		}
	}
}

func (f *fenced) bus(t *testing.T, role string) *natsx.Conn {
	t.Helper()
	return natstest.Connect(t, natsx.Options{URL: f.url(role), NATS: inbox(role), Log: f.logger})
}

// exported is the first segment as a role reads it, up to the checkpoint that covers
// what was stored when the export began.
func exported(t *testing.T, ctx context.Context, b *natsx.Conn) []byte {
	t.Helper()
	log, err := store.Attach(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	segment, size, signed := log.Live(), int64(0), ""
	testkit.Until(t, ctx, "a checkpoint covers the log", func() bool {
		newest, err := log.LastCheckpoint(ctx, segment)
		if errors.Is(err, natsx.ErrNoKey) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		size, signed = text(t, newest.Signed).Size, newest.Signed
		state, err := log.State(ctx, segment)
		return err == nil && size == int64(state.Last)
	})
	return exportUpTo(t, ctx, log, segment, size, signed)
}

func exportUpTo(t *testing.T, ctx context.Context, log *store.Log, s store.Segment, size int64, last string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := audit.NewWriter(&out, audit.Header{Origin: audit.Origin("hooks", s.Name()), Prefix: "hooks"})
	if err != nil {
		t.Fatal(err)
	}
	notes := map[int64]string{}
	if err := log.Checkpoints(ctx, s, func(c store.Checkpoint) error {
		notes[text(t, c.Signed).Size] = c.Signed
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	notes[size] = last
	if err := s.Read(ctx, "", 1, uint64(size), func(rec natsx.Record) error {
		if err := w.Message(int64(rec.Sequence), rec.Time, rec.Subject, rec.Body); err != nil {
			return err
		}
		if signed := notes[int64(rec.Sequence)]; signed != "" {
			return w.Checkpoint([]byte(signed))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// text reads a checkpoint whose signature is looked at later.
func text(t *testing.T, signed string) audit.Checkpoint {
	t.Helper()
	body, _, _ := strings.Cut(signed, "\n\n")
	c, err := audit.ParseCheckpoint(body + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAuditorsProveTheLogFromAMirror runs the accounts of the operator's reference: an
// auditor verifies what a router wrote, and a witness co-signs it.
func TestAuditorsProveTheLogFromAMirror(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f, key := audited(t, ctx)
	f.mirror(t, ctx)
	w := f.guard(t, ctx, "test")
	if answer, err := f.agent(t, "test").Emit(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil || answer.Reason != "no" {
		t.Fatalf("emit: %+v %v", answer, err)
	}
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}

	private, public, err := note.GenerateKey(nil, "witness")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	signed := make(chan witness.Event, 64)
	watch, err := witness.New(f.bus(t, "witness"), witness.Options{
		Signer: signer, Verifier: verifier, Routers: []note.Verifier{key.Verifier}, State: filepath.Join(t.TempDir(), "state.json"), Every: time.Second,
		Tell: func(e witness.Event) { signed <- e },
	})
	if err != nil {
		t.Fatal(err)
	}
	watching, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- watch.Run(watching) }()
	for event := range signed {
		if event.Kind == "signed" {
			break
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}

	auditor := f.bus(t, "auditor")
	file := exported(t, ctx, auditor)
	report, err := audit.Verify(ctx, bytes.NewReader(file), audit.Options{Keys: []note.Verifier{key.Verifier}})
	if err != nil || report.Verdict != audit.OKUnanchored || report.Records < 3 {
		t.Errorf("%v %v", report, err)
	}
	log, err := store.Attach(ctx, auditor)
	if err != nil {
		t.Fatal(err)
	}
	var heads [][]byte
	testkit.Until(t, ctx, "the mirror has what the witness signed", func() bool {
		if err := log.Cosigned(ctx, log.Live().Name(), func(rec natsx.Record) { heads = append(heads, rec.Body) }); err != nil {
			t.Fatal(err)
		}
		return len(heads) > 0
	})
	report, err = audit.Verify(ctx, bytes.NewReader(file), audit.Options{
		Keys: []note.Verifier{key.Verifier}, Witnesses: []note.Verifier{verifier}, Heads: heads,
	})
	if err != nil || !report.Verdict.OK() || report.Verdict == audit.OKUnanchored {
		t.Errorf("%v %v", report, err)
	}
	if text := f.log.String(); strings.Contains(strings.ToLower(text), "permissions") {
		t.Errorf("somebody lacked a right:\n%s", text)
	}
}

// TestAuditorsOnlyRead has an auditor and a witness try to write to the log, the
// second way being an answer of NATS that is led there.
func TestAuditorsOnlyRead(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f, _ := audited(t, ctx)
	f.mirror(t, ctx)
	for _, role := range []string{"auditor", "witness"} {
		for _, subject := range []string{
			"hooks.audit.w.x", "hooks.audit.decision.x", "hooks.checkpoint.HOOKS_AUDIT", "hooks.emit.tool.pre", "hooks.approve.x", "routers.API.CONSUMER.CREATE.HOOKS_AUDIT.x",
			"$JS.API.STREAM.CREATE.X", "$JS.API.STREAM.UPDATE.HOOKS_AUDIT", "$JS.API.STREAM.DELETE.HOOKS_AUDIT", "$JS.API.STREAM.PURGE.HOOKS_AUDIT",
			"$JS.API.STREAM.MSG.DELETE.HOOKS_AUDIT", "$JS.FC.x", "audit.copy.x", "_INBOX.x",
		} {
			if f.permits(t, role, func(nc *nats.Conn) error { return nc.Publish(subject, []byte("x")) }) {
				t.Errorf("the role %s may publish on %s", role, subject)
			}
		}
		if f.permits(t, role, func(nc *nats.Conn) error { _, err := nc.Subscribe("audit.copy.>", func(*nats.Msg) {}); return err }) {
			t.Errorf("the role %s may subscribe to audit.copy.>", role)
		}
	}
	if f.permits(t, "auditor", func(nc *nats.Conn) error { return nc.Publish("hooks.cosigned.HOOKS_AUDIT.x", []byte("x")) }) {
		t.Error("an auditor may publish signatures")
	}

	into := map[string]string{"HOOKS_AUDIT": "hooks.audit.w.led-", "HOOKS_CHECKPOINTS": "hooks.cosigned.HOOKS_AUDIT.led-"}
	for _, role := range []string{"auditor", "witness", "test"} {
		for _, reply := range into {
			f.lead(t, ctx, role, reply+role)
		}
	}
	within := f.bus(t, "test")
	has := func(stream, subject string) bool {
		s, err := within.OpenStream(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Newest(ctx, subject)
		if err != nil && !errors.Is(err, natsx.ErrNoKey) {
			t.Fatal(err)
		}
		return err == nil
	}
	for stream, reply := range into { // in the routers' own account it works, as the reference says
		for !has(stream, reply+"test") {
			if ctx.Err() != nil {
				t.Fatalf("an answer of NATS did not come into %s: this test proves nothing", stream)
			}
		}
		for _, role := range []string{"auditor", "witness"} {
			if has(stream, reply+role) {
				t.Errorf("an answer that NATS gave the %s came into %s", role, stream)
			}
		}
	}
}

// lead has a role ask NATS, with a reply subject that is not its own, and waits until
// NATS has answered what was asked then.
func (f *fenced) lead(t *testing.T, ctx context.Context, role, reply string) {
	t.Helper()
	const question = "$JS.API.STREAM.INFO.HOOKS_AUDIT"
	nc, err := nats.Connect(f.url(role), inbox(role)...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.PublishRequest(question, reply, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.RequestWithContext(ctx, question, nil); err != nil {
		t.Fatal(err)
	}
}

// TestNobodyLeadsAnswersIntoTheLog has each role that is not the router's ask whoever
// answers it, with a reply subject in the log.
func TestNobodyLeadsAnswersIntoTheLog(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := newFenced(t, ctx)
	w := f.guard(t, ctx, "hook")
	defer func() {
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	keeper, err := natsx.Connect(natsx.Options{URL: f.url("keeper"), NATS: inbox("operator"), Log: f.logger})
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	log, err := store.Attach(ctx, keeper)
	if err != nil {
		t.Fatal(err)
	}
	for role, subjects := range map[string][]string{
		"hook":     {"hooks.register.guard", "hooks.unregister.guard"},
		"agent":    {"hooks.emit.tool.pre", "hooks.execute.tool.pre", "hooks.collect.tool.pre", "hooks.contributions.a.b", "hooks.session.turn", "hooks.session.end"},
		"approver": {"hooks.approvals", "hooks.approval.x", "hooks.approve.x", "hooks.session.show", "hooks.session.revoke"},
		"operator": {"hooks.session.close", "hooks.freeze", "hooks.frozen", "hooks.guards", "hooks.guard.pin", "hooks.hook.enable", "hooks.handlers", "hooks.registry", "hooks.explain.tool.pre", "$SRV.PING", "$SRV.INFO.hook-router", "$SRV.STATS.hook-worker"},
	} {
		reply := "hooks.audit.w.led-" + role
		nc := natstest.Dial(t, f.url(role), nats.CustomInboxPrefix("_INBOX_"+role))
		for _, subject := range subjects {
			if err := nc.PublishRequest(subject, reply, []byte(`{"session_id":"s1"}`)); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.FlushWithContext(ctx); err != nil || nc.LastError() != nil {
			t.Fatal(role, err, nc.LastError())
		}
	}
	if _, err := f.agent(t, "agent").Emit(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil { // what was sent before was taken or dropped
		t.Error(err)
	}
	for _, role := range []string{"hook", "agent", "approver", "operator"} {
		if rec, err := log.Live().Newest(ctx, "hooks.audit.w.led-"+role); !errors.Is(err, natsx.ErrNoKey) {
			t.Errorf("the role %s led an answer into the log: %s %v", role, rec.Body, err)
		}
	}
}

// TestRoutersGoOnInANewSegment rotates the log with the rights of a keeper, while routers
// have only theirs.
func TestRoutersGoOnInANewSegment(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f := newFenced(t, ctx)
	w, a, p := f.guard(t, ctx, "hook"), f.agent(t, "agent"), f.approver(t, "approver")
	keeper, err := natsx.Connect(natsx.Options{URL: f.url("keeper"), NATS: inbox("operator"), Log: f.logger})
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	log, err := store.Open(ctx, keeper, 1)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := executing(t, ctx, a)
	q := asked(t, ctx, p)
	for range 2 {
		if _, err := log.Seal(ctx); err != nil {
			t.Fatal(err)
		}
		for range 8 { // at both routers
			if answer, err := a.Emit(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil || answer.Reason != "no" {
				t.Errorf("emit: %+v %v", answer, err)
			}
		}
	}
	if _, err := p.Answer(ctx, q.ID, approval.Answer{Option: "Deny"}); err != nil {
		t.Error(err)
	}
	if x := <-verdicts; x.Action != verdict.Deny {
		t.Errorf("execute: %+v", x)
	}
	if state, err := log.State(ctx, log.Live()); err != nil || log.Live().Number != 3 || state.Messages == 0 || len(state.Drift) > 0 {
		t.Errorf("segment %d: %+v %v", log.Live().Number, state, err)
	}
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}
	if text := f.log.String(); strings.Contains(strings.ToLower(text), "permissions") {
		t.Errorf("somebody lacked a right:\n%s", text)
	}
}
