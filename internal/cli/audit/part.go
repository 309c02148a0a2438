package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// part is one segment of a log to verify: an export, or a stream.
type part struct {
	what   string // the file or stream
	header audit.Header
	bad    *audit.FormatError // why the header can't be read
	in     io.Reader
	size   int64    // of a file; 0 if unknown
	pin    *pinFile // nil if there is none
	path   string   // of the pin; empty if none is kept
	heads  [][]byte // heads seen elsewhere
	odd    []string // further remarks

	previous tlog.Hash // what the first checkpoint must name; zero if there is no segment before
	linked   bool      // previous is known, or there is no segment before
	report   audit.Report
}

// headless reports whether the part has no readable header: it is not an export, or has an unknown
// version.
func (p *part) headless() bool { return p.bad != nil }

// number returns the number of the segment, starting at 1.
func (p *part) number() int { return numberOf(p.header) }

// numberOf parses the segment number in the origin of a header, and returns 0 if it has none.
func numberOf(h audit.Header) int {
	name, ok := strings.CutPrefix(h.Origin, audit.Origin(h.Prefix, segmentName(h.Prefix, 1)))
	switch {
	case !ok:
		return 0
	case name == "":
		return 1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "_"))
	if err != nil || n < 2 || name[0] != '_' {
		return 0
	}
	return n
}

// segmentName returns the name of the segment with a number.
func segmentName(prefix string, number int) string {
	return store.SegmentName(strings.ToUpper(prefix)+"_AUDIT", number)
}

// follows reports whether the part is the segment right after another.
func (p *part) follows(before *part) bool {
	return before != nil && before.header.Prefix == p.header.Prefix && p.number() > 1 && before.number() == p.number()-1
}

// verify verifies the part. The previous segment, or else the pin, determines what the first
// checkpoint must follow. Without either, verify accepts the file's own claim, and the verdict is
// that the beginning is missing.
func (p *part) verify(ctx context.Context, t trusted, progress func(done int64)) (err error) {
	if p.bad != nil {
		p.report = audit.Report{Verdict: audit.Invalid, Reason: p.bad.Reason, Line: p.bad.Line}
		switch {
		case p.bad.Cut:
			p.report.Verdict = audit.Incomplete
		case p.bad.Later:
			p.report.Verdict = audit.UnknownFormat
			p.report.Reason += ": use a newer hookctl"
		}
		return nil
	}
	if p.number() == 1 {
		p.linked = true
	}
	if !p.linked && p.pin != nil {
		p.previous, p.linked = p.pin.Previous, true
	}
	o := audit.Options{
		Keys: verifierkeys.Verifiers(t.routers), Witnesses: verifierkeys.Verifiers(t.witnesses), Heads: p.heads,
		Previous: p.previous, AnyPrevious: !p.linked, Progress: progress,
	}
	if p.pin != nil {
		o.Pin = &p.pin.Pin
	}
	if p.report, err = audit.Verify(ctx, p.in, o); err != nil {
		return fmt.Errorf("%s: %w", p.what, err)
	}
	if p.report.Verdict.OK() && !p.linked {
		p.report.Verdict, p.report.Pin = audit.Incomplete, nil
		p.report.Reason = "nothing was changed in " + term.Plural(int(p.report.Messages), "message") + ", but the log goes on from a segment before, and nothing says where that ended: " +
			"verify it together with the export of that segment, in their order, or with the running log"
	}
	return nil
}

// openPart opens an export; - is the standard input. The caller calls closer.
func openPart(name string, stdin io.Reader) (p *part, closer func(), err error) {
	p, closer = &part{what: name}, func() {}
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, fmt.Errorf("verify: %w", err)
		}
		closer = func() { _ = f.Close() }
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			p.size = info.Size()
		}
		in = f
	}
	if err := p.peek(in); err != nil {
		closer()
		return nil, nil, fmt.Errorf("verify %s: %w", name, err)
	}
	return p, closer, nil
}

// peek reads the header without consuming the input.
func (p *part) peek(in io.Reader) error {
	var seen bytes.Buffer
	source := &remembering{in: in, kept: &seen}
	p.in = io.MultiReader(&seen, in)
	r, err := audit.NewReader(source)
	p.bad, _ = errors.AsType[*audit.FormatError](err)
	if p.bad == nil && source.err == nil {
		p.header = r.Header()
	}
	return source.err
}

// maxSearched bounds how many bytes of an export are read to find its first checkpoint. Routers
// sign once a second.
const maxSearched = 64 << 20

// signers returns the signers of the first checkpoint of an export, as the export claims them; it
// proves nothing. The input is not consumed.
func (p *part) signers() []note.Signature {
	if p.in == nil {
		return nil
	}
	var seen bytes.Buffer
	rest := p.in
	r, err := audit.NewReader(&remembering{in: io.LimitReader(rest, maxSearched), kept: &seen})
	p.in = io.MultiReader(&seen, rest)
	for err == nil {
		var e *audit.Entry
		if e, err = r.Next(); err != nil || e.Checkpoint == nil {
			continue
		}
		if _, open := note.Open(e.Checkpoint, note.VerifierList()); open != nil {
			if unverified, ok := errors.AsType[*note.UnverifiedNoteError](open); ok {
				return unverified.Note.UnverifiedSigs
			}
		}
		break
	}
	return nil
}

// remembering is a reader that keeps what was read, and any error other than io.EOF.
type remembering struct {
	in   io.Reader
	kept *bytes.Buffer
	err  error
}

func (r *remembering) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	r.kept.Write(b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// grave ranks the verdict on a part of a log by severity.
func grave(v audit.Verdict) int {
	order := []audit.Verdict{audit.OKWitnessed, audit.OKPinned, audit.OKUnanchored, audit.Incomplete, audit.UnknownFormat, audit.Invalid, audit.Diverged}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}
