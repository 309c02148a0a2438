package audit_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

const origin = "hooks/HOOKS_AUDIT"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// identity is a key pair for notes.
type identity struct {
	note.Signer
	note.Verifier
}

func newIdentity(seed byte, name string) identity {
	skey, vkey, err := note.GenerateKey(rand.NewChaCha8([32]byte{seed}), name)
	if err != nil {
		panic(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		panic(err)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		panic(err)
	}
	return identity{signer, verifier}
}

var (
	router  = newIdentity(1, "hooks-router")
	witness = newIdentity(2, "witness.example")
	mallory = newIdentity(3, "hooks-router") // the name is easy to take
)

func trusted() audit.Options {
	return audit.Options{Keys: []note.Verifier{router.Verifier}, Witnesses: []note.Verifier{witness.Verifier}}
}

var keys = audit.Keys{Routers: []note.Verifier{router.Verifier}, Witnesses: []note.Verifier{witness.Verifier}}

// part is a message of an export, or a signed checkpoint. A message has the time start
// and the subject of a router, where it says no other.
type part struct {
	stored     time.Time
	subject    string
	seq        int64
	body       []byte
	checkpoint []byte
}

// makeLog is a log of n messages of one to four records by two writers, and
// signed checkpoints, the last one over all. What differs between two texts
// is in each record.
func makeLog(seed uint64, n int, text string, signer note.Signer) []part {
	return makeLogIn(audit.Latest, seed, n, text, signer)
}

// makeLogIn is makeLog in a format.
func makeLogIn(f audit.Format, seed uint64, n int, text string, signer note.Signer) []part {
	rnd := rand.New(rand.NewPCG(seed, 1))
	m := maker{signer: signer, format: f}
	for i := range n {
		m.message(rnd, text)
		if i == n-1 || rnd.IntN(5) == 0 {
			m.sign()
		}
	}
	return m.parts
}

// maker writes a log as routers would.
type maker struct {
	format   audit.Format // 0 means the latest
	log      audit.Log
	parts    []part
	previous tlog.Hash
	signer   note.Signer
	wseq     [2]int64
	next     part // the time and the subject of the next message
}

func (m *maker) message(rnd *rand.Rand, text string) {
	w := rnd.IntN(2)
	var body []byte
	for range 1 + rnd.IntN(4) {
		m.wseq[w]++
		body = audit.Record{
			Time: start.Add(time.Duration(m.log.Size()) * time.Second), Kind: audit.HookResult,
			ChainID: fmt.Sprintf("chain-%d", rnd.IntN(1000)), Session: "s-1", Event: "tool:pre", Hook: "guard", Action: "continue",
			Writer: fmt.Sprintf("router-%d", w), WSeq: m.wseq[w], Detail: audit.Call{Reason: text, Took: time.Millisecond},
		}.Append(body)
	}
	m.add(body)
}

func (m *maker) add(body []byte) {
	p := m.next
	p.seq, p.body = m.log.Size()+1, body
	if err := m.log.Append(p.message()); err != nil {
		panic(err)
	}
	m.parts = append(m.parts, p)
}

// message is one with the usual time and subject.
func message(body []byte) audit.Message { return part{body: body}.message() }

func (p part) message() audit.Message {
	m := audit.Message{Subject: cmp.Or(p.subject, "hooks.audit.w.router"), Stored: p.stored, Body: p.body}
	if m.Stored.IsZero() {
		m.Stored = start
	}
	return m
}

func (m *maker) sign() {
	c := m.log.Checkpoint(cmp.Or(m.format, audit.Latest), origin, start, m.previous)
	signed, err := c.Sign(m.signer)
	if err != nil {
		panic(err)
	}
	m.previous = c.Digest()
	m.parts = append(m.parts, part{checkpoint: signed})
}

// export writes parts as they are, in any order.
func export(t testing.TB, parts []part) []byte {
	t.Helper()
	var out bytes.Buffer
	begin := func() *audit.Writer {
		w, err := audit.NewWriter(&out, audit.Header{Origin: origin, Prefix: "hooks"})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := begin()
	for _, p := range parts {
		var err error
		switch {
		case p.checkpoint != nil:
			err = w.Checkpoint(p.checkpoint)
		default:
			if p.seq <= w.Last() { // no writer writes that
				end(t, w)
				whole := out.Len()
				w = begin()
				end(t, w)
				out.Truncate(whole)
			}
			m := p.message()
			err = w.Message(p.seq, m.Stored, m.Subject, m.Body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	end(t, w)
	return out.Bytes()
}

func end(t testing.TB, w *audit.Writer) {
	t.Helper()
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// verify verifies a file, whatever is in it.
func verify(t testing.TB, file []byte, o audit.Options) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), bytes.NewReader(file), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cosigned has a witness's signature on the last checkpoint of parts.
func cosigned(t testing.TB, parts []part) []byte {
	t.Helper()
	signed, err := audit.Cosign(parts[len(parts)-1].checkpoint, keys, witness.Signer)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
