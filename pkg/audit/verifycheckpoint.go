package audit

import (
	"bytes"
	"errors"
	"slices"
)

// checkpoint handles a signed checkpoint of the file. Copies with witnesses' signatures may follow
// before the next message, more than once in a resumed export.
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

// format sets the format from the first checkpoint, or checks that a later one has the same.
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

// follows checks that a checkpoint follows the previous one.
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

// matches checks a checkpoint against the records. A checkpoint beyond them becomes the head, and
// no message may follow.
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
		return v.found(Invalid, c.Size, "the checkpoint of size %d does not list the last record of each writer as the log has it", c.Size)
	}
	return nil
}
