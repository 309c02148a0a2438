package audit_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// signLater signs a checkpoint as a router of a later version would.
func signLater(t *testing.T, c audit.Checkpoint) []byte {
	t.Helper()
	text := strings.Replace(c.Text(), audit.Latest.String(), "hookrouter-audit v3", 1)
	signed, err := note.Sign(&note.Note{Text: text}, router.Signer)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestALaterFormatIsNoAlarm(t *testing.T) {
	m := maker{signer: router.Signer}
	m.message(rand.New(rand.NewPCG(1, 1)), "fine")
	c := m.log.Checkpoint(audit.Latest, origin, start, m.previous)
	later := signLater(t, c)
	forged := bytes.Replace(later, []byte(" v3"), []byte(" v4"), 1)
	file := export(t, append(m.parts, part{checkpoint: later}))

	got := verify(t, file, trusted())
	if got.Verdict != audit.UnknownFormat || got.Line != 3 || !strings.Contains(got.Reason, `"hookrouter-audit v3", which is newer`) || got.Pin != nil {
		t.Errorf("%+v; want UNKNOWN-FORMAT of line 3, and what to do", got)
	}
	m.sign()
	o := trusted()
	o.Heads = [][]byte{later}
	if got := verify(t, export(t, m.parts), o); got.Verdict != audit.UnknownFormat {
		t.Errorf("a head of a later format: %+v", got)
	}
	if got := verify(t, export(t, append(m.parts[:1:1], part{checkpoint: forged})), trusted()); got.Verdict != audit.Invalid {
		t.Errorf("a later format that no router has signed: %+v; want INVALID", got)
	}
	if _, err := audit.Prove(t.Context(), bytes.NewReader(file), 1, 0); !isLater(err) {
		t.Errorf("prove: %v", err)
	}
	r, err := audit.Prove(t.Context(), bytes.NewReader(export(t, m.parts)), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.Checkpoint = string(later)
	if _, _, err := r.Check(keys); !isLater(err) {
		t.Errorf("check: %v", err)
	}
	if _, err := audit.ParseReceipt([]byte(`{"hookrouter_audit_receipt":3,"more":1}`)); !isLater(err) {
		t.Errorf("a receipt of a later version: %v", err)
	}
}

func isLater(err error) bool {
	_, ok := errors.AsType[*audit.UnknownFormatError](err)
	return ok
}

func TestASegmentKeepsItsFormat(t *testing.T) {
	m := maker{signer: router.Signer}
	rnd := rand.New(rand.NewPCG(1, 1))
	m.message(rnd, "fine")
	older := m.log.Root(audit.LineFormat)
	m.sign()
	m.message(rnd, "fine")
	m.format = audit.LineFormat
	m.sign()
	if got := verify(t, export(t, m.parts), trusted()); got.Verdict != audit.Invalid || got.Line != 5 || !strings.Contains(got.Reason, "format") {
		t.Errorf("another format: %+v", got)
	}
	o := trusted()
	o.Pin = &audit.Pin{Origin: origin, Size: 1, Root: older}
	if got := verify(t, export(t, m.parts[:2]), o); got.Verdict != audit.Diverged || got.Line != 3 {
		t.Errorf("a pin of the same messages in another format: %+v", got)
	}
}

func TestOldSegmentsVerifyAsBefore(t *testing.T) {
	parts := makeLogIn(audit.LineFormat, 1, 30, "fine", router.Signer)
	for i := range parts { // what this format leaves out
		parts[i].stored, parts[i].subject = start.Add(time.Duration(i)), "anything"
	}
	parts[len(parts)-1].checkpoint = cosigned(t, parts)
	file := export(t, parts)
	got := verify(t, file, trusted())
	if got.Verdict != audit.OKWitnessed || got.Head.Format != audit.LineFormat || !bytes.Contains(file, []byte("hookrouter-audit v1")) {
		t.Errorf("%+v", got)
	}
	r, err := audit.Prove(t.Context(), bytes.NewReader(file), 3, 0)
	if err != nil || r.Version != 1 || r.Time != "" || r.Subject != "" {
		t.Fatalf("%+v, %v; want a receipt of version 1", r, err)
	}
	if _, _, err := r.Check(keys); err != nil {
		t.Error(err)
	}
	r.Time = "2026-03-01T12:00:00Z"
	if _, _, err := r.Check(keys); err == nil {
		t.Error("a receipt proves a time that its format leaves out")
	}
}

func TestReceiptsProveSubjectAndTime(t *testing.T) {
	m := maker{signer: router.Signer, next: part{subject: "hooks.audit.w.a", stored: start.Add(time.Nanosecond)}}
	m.message(rand.New(rand.NewPCG(1, 1)), "fine")
	m.sign()
	for name, change := range map[string]func(r *audit.Receipt){
		"":                func(*audit.Receipt) {},
		"another subject": func(r *audit.Receipt) { r.Subject = "hooks.audit.w.b" },
		"no subject":      func(r *audit.Receipt) { r.Subject = "" },
		"another time":    func(r *audit.Receipt) { r.Time = "2026-03-01T12:00:00Z" },
		"no time":         func(r *audit.Receipt) { r.Time = "" },
		"a shift between the two": func(r *audit.Receipt) {
			r.Time, r.Subject = r.Time[:19], r.Time[19:]+" "+r.Subject
		},
		"another version": func(r *audit.Receipt) { r.Version = audit.LineFormat },
	} {
		r, err := audit.Prove(t.Context(), bytes.NewReader(export(t, m.parts)), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		if _, _, err := r.Check(keys); (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASubjectThatIsNotUTF8IsNoMessageOfARouter(t *testing.T) {
	var log audit.Log
	m := message(audit.Record{}.Append(nil))
	m.Subject = "hooks.audit.w.\xff"
	if err := log.Append(m); err == nil {
		t.Error("accepted")
	}
}
