package witness_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// TestALaterFormatIsWaitedFor: a checkpoint that a newer router has signed is no reason to
// refuse, and none to sign.
func TestALaterFormatIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	b.write(1, "fine")
	text := strings.Replace(b.checkpoint().Text(), audit.Latest.String(), "hookrouter-audit v3", 1)
	signed, err := note.Sign(&note.Note{Text: text}, b.router)
	b.must(err)
	body, err := json.Marshal(store.Checkpoint{Signed: string(signed)})
	b.must(err)
	_, err = b.js.Publish(t.Context(), store.CheckpointSubject(b.bus, "HOOKS_AUDIT"), body)
	b.must(err)

	err = b.once()
	_, later := errors.AsType[*audit.UnknownFormatError](err)
	_, refused := errors.AsType[*witness.Refusal](err)
	if !later || refused {
		t.Errorf("the witness said %v; want that the format is unknown, and no refusal", err)
	}
	if got := b.published("HOOKS_AUDIT"); got != 3 {
		t.Errorf("it has signed size %d; want 3", got)
	}
	if _, err := os.Stat(b.state + ".fork.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it kept a proof: %v", err)
	}
	stop, _ := b.run()
	b.waiting("newer than this version knows")
	b.must(stop())
}

// TestTheFormatOfASegmentStays: it is that of its first checkpoint.
func TestTheFormatOfASegmentStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	b.format = audit.LineFormat
	var again audit.Log
	b.must(b.segment.Read(t.Context(), "", 1, 3, func(rec natsx.Record) error {
		return again.Append(audit.Message{Subject: rec.Subject, Stored: rec.Time, Body: rec.Body})
	}))
	b.signWith(b.router, again.Checkpoint(audit.LineFormat, b.origin(), time.Now(), b.previous))
	_ = b.wantRefusal(b.once(), "format")
}

// TestBothFormatsAreSigned: each segment in its own. What the witness publishes says which
// format it knows.
func TestBothFormatsAreSigned(t *testing.T) {
	t.Parallel()
	b := newBenchIn(t, audit.LineFormat)
	b.write(3, "fine")
	b.sign()
	b.rotate()
	b.format = audit.MessageFormat
	b.write(2, "fine")
	b.sign()
	b.must(b.once())
	if one, two := b.published("HOOKS_AUDIT"), b.published("HOOKS_AUDIT_2"); one != 3 || two != 2 {
		t.Errorf("it has signed sizes %d and %d; want 3 and 2", one, two)
	}
	b.must(b.trail.Cosigned(t.Context(), "*", func(rec natsx.Record) {
		if got := rec.Header.Get(store.FormatHeader); got != "2" {
			t.Errorf("%s says that the witness knows format %q; want 2", rec.Subject, got)
		}
	}))
}
