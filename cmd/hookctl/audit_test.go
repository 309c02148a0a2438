package main

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
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// auditFixture is an audit log that the test writes, as routers do, and hookctl on it.
type auditFixture struct {
	*fixture
	bus      *natsx.Conn
	trail    *store.Log
	keys     noteKey
	log      *audit.Log
	previous tlog.Hash
	revision uint64 // of the last checkpoint of the live segment
	signed   []byte // it
	wseq     int64
	last     uint64 // sequence of the writer's last message
}

// noteKey signs, and its text verifies.
type noteKey struct {
	signednote.Signer
	text string
}

func newKey(t *testing.T, seed byte, name string) noteKey {
	t.Helper()
	private, public, err := signednote.GenerateKey(rand.NewChaCha8([32]byte{seed}), name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := signednote.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return noteKey{signer, public}
}

func newAuditFixture(t *testing.T) *auditFixture {
	t.Helper()
	s := testkit.Listening(t)
	b, err := natsx.Connect(natsx.Options{URL: s.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	log, err := store.Open(t.Context(), b, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &auditFixture{
		fixture: &fixture{t, map[string]string{"NATS_URL": s.ClientURL(), "XDG_STATE_HOME": t.TempDir()}, b.Conn()},
		bus:     b, trail: log, keys: newKey(t, 1, "hook-router"), log: &audit.Log{},
	}
}

// write appends records as one message.
func (f *auditFixture) write(records ...audit.Record) {
	f.t.Helper()
	var lines []byte
	for _, r := range records {
		lines = r.Append(lines)
	}
	body, next := audit.Number(nil, lines, "w1", f.wseq+1)
	f.wseq = next - 1
	var err error
	if f.last, err = f.trail.Live().Append(f.t.Context(), f.bus.Of("audit", "w", "w1"), "", f.last, body); err != nil {
		f.t.Fatal(err)
	}
	f.grow(body)
}

func (f *auditFixture) grow(body []byte) {
	f.t.Helper()
	if err := f.log.Append(body); err != nil {
		f.t.Fatal(err)
	}
}

// decide appends the decision on a question.
func (f *auditFixture) decide(segment int, r audit.Record) {
	f.t.Helper()
	body := r.Append(nil)
	if err := f.trail.Decide(f.t.Context(), segment, r.Detail.(audit.Decision).ApprovalID, body); err != nil {
		f.t.Fatal(err)
	}
	f.grow(body)
}

// sign appends a checkpoint over all messages.
func (f *auditFixture) sign() {
	f.t.Helper()
	live := f.trail.Live()
	c := f.log.Checkpoint(audit.Origin(f.bus.Prefix(), live.Name()), time.Now(), f.previous)
	var err error
	if f.signed, err = c.Sign(f.keys); err != nil {
		f.t.Fatal(err)
	}
	f.previous = c.Digest()
	f.revision, err = f.trail.AppendCheckpoint(f.t.Context(), live, store.Checkpoint{Signed: string(f.signed), Subtrees: f.log.Subtrees()}, f.revision)
	if err != nil {
		f.t.Fatal(err)
	}
}

// cosign has a witness sign the last checkpoint.
func (f *auditFixture) cosign(witness noteKey) {
	f.t.Helper()
	verifier, err := signednote.NewVerifier(f.keys.text)
	if err != nil {
		f.t.Fatal(err)
	}
	signed, err := audit.Cosign(f.signed, audit.Keys{Routers: []signednote.Verifier{verifier}}, witness)
	if err != nil {
		f.t.Fatal(err)
	}
	subject := store.CosignedSubject(f.bus, f.trail.Live().Name(), witness.Name())
	last, err := f.trail.CheckpointNotes().Newest(f.t.Context(), subject)
	if err != nil {
		last.Sequence = 0
	}
	if _, err := f.trail.CheckpointNotes().Append(f.t.Context(), subject, "", last.Sequence, signed); err != nil {
		f.t.Fatal(err)
	}
}

// turn closes the segment and begins the next.
func (f *auditFixture) turn() {
	f.t.Helper()
	if _, err := f.trail.Seal(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.log, f.revision, f.wseq, f.last = &audit.Log{}, 0, 0, 0
}

// announce serves what a router tells of itself.
func (f *auditFixture) announce(key string) {
	f.t.Helper()
	service, err := f.bus.Serve("hook-router", "0.1.0", map[string]string{"audit": "strict", "audit_key": key})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = service.Stop(context.Background()) })
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// chainOf is a chain as a router records it: a hook that modifies, one that fails open, one
// that is skipped, one that denies, and the result.
func chainOf(id, session string, at time.Time) []audit.Record {
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

// fill writes some chains and signs now and then, the last time over all.
func (f *auditFixture) fill(n int) {
	f.t.Helper()
	for i := range n {
		f.write(chainOf(fmt.Sprintf("chain-%d", i), fmt.Sprintf("s%d", i%2), began.Add(time.Duration(i)*time.Second))...)
		if i%3 == 2 || i == n-1 {
			f.sign()
		}
	}
}

// places are the places and kinds of the records that a command showed as JSON lines.
func places(t *testing.T, stdout string) (list []string) {
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
