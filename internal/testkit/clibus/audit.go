package clibus

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	signednote "golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// AuditFixture is an audit log that the test writes as routers do, and hookctl to read it.
type AuditFixture struct {
	*clitest.Fixture
	Bus      *natsx.Conn
	Trail    *store.Log
	Keys     NoteKey
	log      *audit.Log
	previous tlog.Hash
	revision uint64 // of the last checkpoint of the live segment
	Signed   []byte // the last checkpoint
	wseq     int64
	Last     uint64 // sequence of the writer's last message
}

// NoteKey is a signing key, with the verifier key as text.
type NoteKey struct {
	signednote.Signer
	Text string
}

// NewKey returns a key that is the same in every run.
func NewKey(t *testing.T, seed byte, name string) NoteKey {
	t.Helper()
	private, public, err := signednote.GenerateKey(rand.NewChaCha8([32]byte{seed}), name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := signednote.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return NoteKey{signer, public}
}

// NewAudit starts a server with an empty audit log, and no router.
func NewAudit(t *testing.T, hookctl clitest.Hookctl) *AuditFixture {
	t.Helper()
	s := natstest.Listening(t)
	b, err := natsx.Connect(natsx.Options{URL: s.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	log, err := store.Open(t.Context(), b, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &AuditFixture{
		Fixture: &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "NATS_URL": s.ClientURL(), "XDG_STATE_HOME": t.TempDir()}, NC: b.Conn()},
		Bus:     b, Trail: log, Keys: NewKey(t, 1, "hook-router"), log: &audit.Log{},
	}
}

// Write appends records as one message.
func (f *AuditFixture) Write(records ...audit.Record) {
	f.T.Helper()
	var lines []byte
	for _, r := range records {
		lines = r.Append(lines)
	}
	body, next := audit.Number(nil, lines, "w1", f.wseq+1)
	f.wseq = next - 1
	var err error
	if f.Last, err = f.Trail.Live().Append(f.T.Context(), f.Bus.Of("audit", "w", "w1"), "", f.Last, body); err != nil {
		f.T.Fatal(err)
	}
	f.grow()
}

// grow adds the last message to the local copy of the log.
func (f *AuditFixture) grow() {
	f.T.Helper()
	rec, err := f.Trail.Live().Newest(f.T.Context(), ">")
	if err != nil {
		f.T.Fatal(err)
	}
	if err := f.log.Append(audit.Message{Subject: rec.Subject, Stored: rec.Time, Body: rec.Body}); err != nil {
		f.T.Fatal(err)
	}
}

// Decide appends the decision on an approval request.
func (f *AuditFixture) Decide(segment int, r audit.Record) {
	f.T.Helper()
	body := r.Append(nil)
	if err := f.Trail.Decide(f.T.Context(), segment, r.Detail.(audit.Decision).ApprovalID, body); err != nil {
		f.T.Fatal(err)
	}
	f.grow()
}

// Sign appends a checkpoint over all messages.
func (f *AuditFixture) Sign() {
	f.T.Helper()
	live := f.Trail.Live()
	c := f.log.Checkpoint(audit.Latest, audit.Origin(f.Bus.Prefix(), live.Name()), time.Now(), f.previous)
	var err error
	if f.Signed, err = c.Sign(f.Keys); err != nil {
		f.T.Fatal(err)
	}
	f.previous = c.Digest()
	f.revision, err = f.Trail.AppendCheckpoint(f.T.Context(), live, store.Checkpoint{Signed: string(f.Signed), Subtrees: f.log.Subtrees(audit.Latest)}, f.revision)
	if err != nil {
		f.T.Fatal(err)
	}
}

// Cosign appends the cosignature of a witness for the last checkpoint.
func (f *AuditFixture) Cosign(witness NoteKey) {
	f.T.Helper()
	verifier, err := signednote.NewVerifier(f.Keys.Text)
	if err != nil {
		f.T.Fatal(err)
	}
	signed, err := audit.Cosign(f.Signed, audit.Keys{Routers: []signednote.Verifier{verifier}}, witness)
	if err != nil {
		f.T.Fatal(err)
	}
	subject := store.CosignedSubject(f.Bus, f.Trail.Live().Name(), witness.Name())
	last, err := f.Trail.CheckpointNotes().Newest(f.T.Context(), subject)
	if err != nil {
		last.Sequence = 0
	}
	if _, err := f.Trail.CheckpointNotes().Append(f.T.Context(), subject, "", last.Sequence, signed); err != nil {
		f.T.Fatal(err)
	}
}

// Turn seals the segment and starts the next one.
func (f *AuditFixture) Turn() {
	f.T.Helper()
	if _, err := f.Trail.Seal(f.T.Context()); err != nil {
		f.T.Fatal(err)
	}
	f.log, f.revision, f.wseq, f.Last = &audit.Log{}, 0, 0, 0
}

// Announce registers the service that a router announces, with an audit key.
func (f *AuditFixture) Announce(key string) {
	f.T.Helper()
	announced, err := service.Start(f.Bus, "hook-router", "0.1.0", map[string]string{"audit": "strict", "audit_key": key})
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(func() { _ = announced.Stop(context.Background()) })
	if err := f.Bus.Conn().Flush(); err != nil { // the server has the subscriptions
		f.T.Fatal(err)
	}
}

// Began is the time of the first event.
var Began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ChainOf returns the records of a chain as a router writes them: a hook that modifies, one that
// fails open, one that is skipped, one that denies, a dropped injection, and the result.
func ChainOf(id, session string, at time.Time) []audit.Record {
	base := audit.Record{Time: at, ChainID: id, Session: session, Event: "tool:pre", EventID: "event-" + id}
	of := func(kind audit.Kind, hook, action string, d audit.Detail) audit.Record {
		r := base
		r.Kind, r.Hook, r.Action, r.Detail = kind, hook, action, d
		return r
	}
	in, out := json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`), json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"rm -rf /","cwd":"/srv"}}`)
	return []audit.Record{
		of(audit.HookResult, "cwd", "modify", audit.Call{
			Took: 400 * time.Microsecond, Data: &audit.Data{SHA256: "aa", Value: out},
			Changes: json.RawMessage(`[{"op":"add","path":"/tool_input/cwd","value":"/srv"}]`),
		}),
		of(audit.HookTimeout, "slow", "continue", audit.Call{Failure: "timeout", Error: "no answer within 5s", FailedOpen: true, Took: 5 * time.Second}),
		of(audit.HookSkipped, "lint", "continue", audit.Call{}),
		of(audit.HookResult, "no-rm", "deny", audit.Call{Reason: "rm is not for agents", Took: 500 * time.Microsecond}),
		of(audit.InjectionKind, "memory", "", audit.Injection{Role: "system", Bytes: 9, Tokens: 3, Dropped: "budget"}),
		of(audit.ChainResult, "", "deny", audit.Chain{
			Agent: "/agents/a", Reason: "rm is not for agents", DeniedBy: "no-rm", Called: 3, Skipped: 1, Took: 5001 * time.Millisecond,
			In: &audit.Data{SHA256: "bb", Value: in}, Out: &audit.Data{SHA256: "aa", Value: out},
		}),
	}
}

// Fill writes n chains, and signs after every third one and after the last one.
func (f *AuditFixture) Fill(n int) {
	f.T.Helper()
	for i := range n {
		f.Write(ChainOf(fmt.Sprintf("chain-%d", i), fmt.Sprintf("s%d", i%2), Began.Add(time.Duration(i)*time.Second))...)
		if i%3 == 2 || i == n-1 {
			f.Sign()
		}
	}
}

// Places returns the places, kinds and hooks of the records that a command printed as JSON lines.
func Places(t *testing.T, stdout string) (list []string) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var r struct {
			Place  string
			Record struct {
				Kind, Hook string
				ChainID    string `json:"chain_id"`
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, strings.TrimSpace(r.Place+" "+r.Record.Kind+" "+r.Record.Hook))
	}
	return list
}
