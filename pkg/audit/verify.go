package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Options are what an export is verified against. Only Keys is required.
type Options struct {
	// Keys are the routers' keys: each checkpoint must be signed by one.
	Keys []note.Verifier
	// Witnesses are the keys of witnesses; none may be a router's.
	Witnesses []note.Verifier
	// Pin is the head of an earlier verification; nil for none.
	Pin *Pin
	// Heads are signed checkpoints from other sources, such as a witness's last head.
	Heads [][]byte
	// Previous is what the first checkpoint must name as its predecessor, if the log
	// continues another segment; zero for none.
	Previous tlog.Hash
	// AnyPrevious accepts any predecessor in the first checkpoint, for a segment whose
	// predecessor's end is not known. An OK verdict then says nothing about what came
	// before.
	AnyPrevious bool
	// Progress is called now and then with the number of bytes read; nil is ignored.
	Progress func(done int64)
}

// stride is how many lines are read between two checks of the context.
const stride = 256

// Verify reads an export and reports whether it is what was signed. An error means that it
// could not be read to the end, or that the options are invalid; then the report has no
// verdict. The context does not interrupt a read that blocks.
func Verify(ctx context.Context, in io.Reader, o Options) (Report, error) {
	v := verifier{Options: o, keys: Keys{Routers: o.Keys, Witnesses: o.Witnesses}}
	if err := v.keys.Check(); err != nil {
		return Report{}, fmt.Errorf("verify: %w", err)
	}
	err := v.anchors()
	if _, ok := errors.AsType[*finding](err); err != nil && !ok {
		return Report{}, fmt.Errorf("verify: %w", err)
	}
	if err == nil {
		err = v.run(ctx, in)
	}
	r := v.report
	r.Messages, r.Records = v.log.Size(), v.log.Records()
	if f, ok := errors.AsType[*finding](err); ok {
		r.Verdict, r.Reason, r.Line, r.Seq, r.Differs = f.verdict, f.reason, f.line, f.seq, f.differs
		return r, nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("verify: %w", err)
	}
	return r, nil
}

// finding is why an export is not OK.
type finding struct {
	verdict   Verdict
	reason    string
	line, seq int64
	differs   bool
}

func (f *finding) Error() string { return f.reason }

func (v *verifier) found(verdict Verdict, seq int64, format string, args ...any) error {
	return &finding{verdict, fmt.Sprintf(format, args...), v.line, seq, false}
}

// differs is found for what differs from the options.
func (v *verifier) differs(verdict Verdict, seq int64, format string, args ...any) error {
	return &finding{verdict, fmt.Sprintf(format, args...), v.line, seq, true}
}

// anchor is a head known from elsewhere.
type anchor struct {
	Pin
	format    Format // 0: not known
	what      string
	witnessed bool
}

// verifier is one verification under way.
type verifier struct {
	Options
	keys   Keys
	seen   []anchor // not yet reached, the smallest first
	log    Log
	origin string
	line   int64
	head   *Checkpoint
	text   string   // of head
	signed []byte   // the first copy of head, signatures included
	known  bool     // a head that was seen elsewhere was found
	met    []anchor // that were found before the format was known, with the format in which
	report Report
}

// anchors collects the heads known from elsewhere.
func (v *verifier) anchors() error {
	if v.Pin != nil {
		if v.Pin.Size < 1 {
			return errors.New("the pin is of no log: its size is not 1 or more")
		}
		v.seen = append(v.seen, anchor{Pin: *v.Pin, what: "pinned"})
	}
	for _, signed := range v.Heads {
		c, witnessed, err := v.keys.Open(signed)
		if later, ok := errors.AsType[*UnknownFormatError](err); ok {
			return v.found(UnknownFormat, 0, "a head that was seen elsewhere: %v", later)
		}
		if err != nil {
			return fmt.Errorf("a head that was seen elsewhere: %w", err)
		}
		v.seen = append(v.seen, anchor{Pin{c.Origin, c.Size, c.Root}, c.Format, "seen elsewhere", witnessed})
	}
	slices.SortStableFunc(v.seen, func(a, b anchor) int { return int(min(max(a.Size-b.Size, -1), 1)) })
	return nil
}

func (v *verifier) run(ctx context.Context, in io.Reader) error {
	r, err := NewReader(in)
	if err != nil {
		return v.unreadable(err)
	}
	v.line = 1
	if err := v.begin(r.Header()); err != nil {
		return err
	}
	for {
		if v.line%stride == 0 {
			if err := v.pause(ctx, r); err != nil {
				return err
			}
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			v.line = 0
			if err := v.pause(ctx, r); err != nil {
				return err
			}
			return v.end()
		}
		if err != nil {
			return v.unreadable(err)
		}
		v.line = e.Line
		if e.Checkpoint != nil {
			err = v.checkpoint(e.Checkpoint)
		} else {
			err = v.message(e)
		}
		if err != nil {
			return err
		}
	}
}

func (v *verifier) pause(ctx context.Context, r *Reader) error {
	if v.Progress != nil {
		v.Progress(r.Offset())
	}
	return context.Cause(ctx)
}

// unreadable turns an error of the file into a finding.
func (v *verifier) unreadable(err error) error {
	bad, ok := errors.AsType[*FormatError](err)
	if !ok {
		return err
	}
	v.line = bad.Line
	if bad.Later {
		return v.found(UnknownFormat, 0, "%s: use a newer version", bad.Reason)
	}
	if bad.Cut {
		return v.found(Incomplete, 0, "%s", bad.Reason)
	}
	return v.found(Invalid, 0, "%s", bad.Reason)
}

func (v *verifier) begin(h Header) error {
	v.origin, v.report.Origin = h.Origin, h.Origin
	for _, a := range v.seen {
		if a.Origin != h.Origin {
			return v.differs(Invalid, 0, "an export of the log %s, and the %s head is one of the log %q", h.Origin, a.what, a.Origin)
		}
	}
	if h.First != 1 {
		return v.found(Incomplete, 0, "the beginning is missing: the export begins at sequence %d", h.First)
	}
	return nil
}

func (v *verifier) message(e *Entry) error {
	want := v.log.Size() + 1
	switch {
	case want == 1 && e.Seq > 1:
		return v.found(Incomplete, e.Seq, "the beginning is missing: the first message is sequence %d", e.Seq)
	case e.Seq != want:
		return v.found(Invalid, e.Seq, "sequence %d stands where %d must be: a message was removed, put in, or moved", e.Seq, want)
	case v.head != nil && v.head.Size >= want:
		return v.found(Invalid, e.Seq, "message %d stands after the checkpoint of size %d", e.Seq, v.head.Size)
	case e.Body != nil:
		if _, err := Lines(e.Body); err != nil {
			return v.found(Invalid, e.Seq, "%v", err)
		}
		return v.found(Invalid, e.Seq, "not UTF-8") // otherwise it would be written as lines
	}
	v.log.head = appendHead(v.log.head[:0], e.Time, e.Subject)
	if err := v.log.append(e.Lines, e.marks); err != nil {
		return v.found(Invalid, e.Seq, "%v", err)
	}
	return v.anchored()
}

// anchored compares the log with the anchors of its size.
func (v *verifier) anchored() error {
	for len(v.seen) > 0 && v.seen[0].Size <= v.log.Size() {
		a := v.seen[0]
		if a.format = v.log.formatOf(a.Root); a.format == 0 {
			return v.differs(Diverged, a.Size, "another history: the %s head of size %d has the root %s, this log %s", a.what, a.Size, a.Root, v.log.roots())
		}
		if v.log.Format() == 0 {
			v.met = append(v.met, a)
		}
		v.known = true
		if a.witnessed {
			v.report.Witnessed = max(v.report.Witnessed, a.Size)
		}
		v.seen = v.seen[1:]
	}
	return nil
}

// checkpoint takes a signed checkpoint of the file. Copies with signatures of witnesses may
// follow before the next message, and more than once in a resumed export.
func (v *verifier) checkpoint(signed []byte) error {
	c, witnessed, err := v.keys.Open(signed)
	if later, ok := errors.AsType[*UnknownFormatError](err); ok {
		return v.found(UnknownFormat, 0, "%v", later)
	}
	if errors.Is(err, errUnsigned) {
		return v.differs(Invalid, 0, "%v", err)
	}
	if err != nil {
		return v.found(Invalid, 0, "%v", err)
	}
	if c.Origin != v.origin {
		return v.found(Invalid, c.Size, "a checkpoint of another log: %s, and the export is of %s", c.Origin, v.origin)
	}
	if err := v.format(c); err != nil {
		return err
	}
	text := c.Text()
	switch {
	case text != v.text:
		err = v.follows(c)
	case bytes.Equal(signed, v.signed):
		err = v.found(Invalid, c.Size, "the checkpoint of size %d stands there twice", c.Size)
	}
	if err == nil {
		err = v.matches(c, witnessed)
	}
	if err != nil {
		return err
	}
	if text != v.text {
		v.head, v.text, v.signed = &c, text, append(v.signed[:0], signed...)
		v.report.Head = v.head
		v.report.Checkpoints++
	}
	if witnessed {
		v.report.Witnessed = max(v.report.Witnessed, c.Size)
	}
	return nil
}

// format takes the format of the first checkpoint, which the others must have too.
func (v *verifier) format(c Checkpoint) error {
	switch v.log.Format() {
	case 0:
		v.log.SetFormat(c.Format)
	case c.Format:
	default:
		return v.found(Invalid, c.Size, "the checkpoint of size %d is in the format %q, and the first one in %q", c.Size, c.Format, v.log.Format())
	}
	for _, a := range v.met {
		if a.format != c.Format {
			return v.differs(Diverged, a.Size, "another history: the %s head of size %d is of one in the format %q, this log is in %q", a.what, a.Size, a.format, c.Format)
		}
	}
	v.met = nil
	return nil
}

// follows checks a checkpoint against the one before.
func (v *verifier) follows(c Checkpoint) error {
	previous, found := v.Previous, v.differs
	if v.head == nil && v.AnyPrevious {
		previous = c.Previous
	}
	if v.head != nil {
		previous, found = v.head.Digest(), v.found
		switch {
		case c.Size == v.head.Size && c.Root != v.head.Root:
			return v.found(Diverged, c.Size, "two signed checkpoints of size %d have different roots", c.Size)
		case c.Size < v.head.Size:
			return v.found(Invalid, c.Size, "the checkpoint of size %d stands after the one of size %d", c.Size, v.head.Size)
		}
	}
	if c.Previous != previous {
		return found(Diverged, c.Size, "the checkpoint of size %d does not name the one before as its predecessor: one was left out, or there are two histories", c.Size)
	}
	return nil
}

// matches checks a checkpoint against the records. If it is ahead of them it stays
// the head, and no message may follow.
func (v *verifier) matches(c Checkpoint, witnessed bool) error {
	switch {
	case c.Size > v.log.Size():
		return nil
	case c.Size < v.log.Size():
		return v.found(Invalid, c.Size, "the checkpoint of size %d stands after message %d", c.Size, v.log.Size())
	case c.Root != v.log.Root(c.Format) && witnessed:
		return v.found(Diverged, c.Size, "the records up to sequence %d are not the ones that a witness has signed", c.Size)
	case c.Root != v.log.Root(c.Format):
		return v.found(Invalid, c.Size, "the records up to sequence %d are not the ones that were signed", c.Size)
	case !slices.Equal(c.Writers, v.log.Writers()):
		return v.found(Invalid, c.Size, "the checkpoint of size %d does not name the heads of the writers as they are", c.Size)
	}
	return nil
}

// end is the verdict on a file that was read to its end without a finding.
func (v *verifier) end() error {
	size := v.log.Size()
	switch {
	case v.head != nil && v.head.Size > size:
		return v.found(Incomplete, 0, "the file ends after message %d, and a checkpoint covers %d", size, v.head.Size)
	case size == 0:
		return v.found(Incomplete, 0, "the log is empty: there is nothing to verify")
	case len(v.seen) > 0:
		last := v.seen[len(v.seen)-1]
		return v.differs(Incomplete, 0, "the file ends after message %d, and the %s head covers %d: the tail is missing", size, last.what, last.Size)
	case v.head == nil:
		return v.found(Incomplete, 0, "there is no checkpoint: nothing was signed")
	case v.head.Size < size:
		return v.found(Incomplete, 0, "no checkpoint covers the last messages, from sequence %d to %d", v.head.Size+1, size)
	}
	v.report.Pin = &Pin{v.origin, size, v.log.Root(v.log.Format())}
	switch {
	case v.report.Witnessed == size:
		v.report.Verdict, v.report.Reason = OKWitnessed, "a witness has signed the last checkpoint, over "+counted(size, "message", "messages")
	case v.known:
		v.report.Verdict, v.report.Reason = OKPinned, counted(size, "message goes", "messages go")+" on from a head that was seen before"
	default:
		v.report.Verdict, v.report.Reason = OKUnanchored,
			counted(size, "message is as it was", "messages are as they were")+" signed; whether the tail was cut off, or all of it signed anew, can't be seen without a pin or a witness"
	}
	return nil
}

// counted is a number with what is said of one, or of several.
func counted(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
