package audit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Options configure a verification. Only Keys is required.
type Options struct {
	// Keys are the routers' keys. One of them must have signed each checkpoint.
	Keys []note.Verifier
	// Witnesses are the keys of witnesses. Routers' keys are not allowed.
	Witnesses []note.Verifier
	// Pin is the head of an earlier verification; nil if there is none.
	Pin *Pin
	// Heads are signed checkpoints from other sources, such as a witness's last head.
	Heads [][]byte
	// Previous is the predecessor that the first checkpoint must refer to, if the log continues
	// another segment; zero if it does not.
	Previous tlog.Hash
	// AnyPrevious accepts any predecessor of the first checkpoint, for a segment whose
	// predecessor's end is unknown. An OK verdict then does not cover earlier segments.
	AnyPrevious bool
	// Progress is called from time to time with the number of bytes read; nil means no calls.
	Progress func(done int64)
}

// stride is the number of lines read between two checks of the context.
const stride = 256

// Verify reads an export and reports whether it is as signed. An error means that it could not be
// read to the end, or that the options are invalid; the report then has no verdict. The context
// does not interrupt a blocked read.
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

// finding is the reason why an export is not OK.
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

// differs returns a finding about a mismatch with the options.
func (v *verifier) differs(verdict Verdict, seq int64, format string, args ...any) error {
	return &finding{verdict, fmt.Sprintf(format, args...), v.line, seq, true}
}

// verifier is the state of one verification.
type verifier struct {
	Options
	keys   Keys
	seen   []anchor // not reached yet, smallest first
	log    Log
	origin string
	line   int64
	head   *Checkpoint
	text   string   // of head
	signed []byte   // the first copy of head, with signatures
	known  bool     // a head from another source was found in the log
	met    []anchor // found while the format was unknown, with the format that matched
	report Report
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

// unreadable converts an error of the file to a finding.
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
		return v.found(Invalid, e.Seq, "not UTF-8") // otherwise Writer would have written it as lines
	}
	v.log.head = appendHead(v.log.head[:0], e.Time, e.Subject)
	if err := v.log.append(e.Lines, e.marks); err != nil {
		return v.found(Invalid, e.Seq, "%v", err)
	}
	return v.anchored()
}

// end returns the verdict on a file that was read to the end without a finding.
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

// counted returns a number with the singular or plural noun.
func counted(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
