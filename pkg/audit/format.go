package audit

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/tlog"
)

// Format is the way in which the leaves of a segment are computed. The first line of each
// checkpoint names it, and all checkpoints of a segment have the same.
type Format int

// The formats.
const (
	// LineFormat covers only the lines of a message.
	LineFormat Format = 1
	// MessageFormat also covers the subject and the stored time.
	MessageFormat Format = 2
	// Latest is the format of new segments, once all routers and witnesses support it.
	Latest = MessageFormat
)

// formatName is the start of the first line of a checkpoint, before the number.
const formatName = "hookrouter-audit v"

// String returns the first line of a checkpoint of this format.
func (f Format) String() string { return fmt.Sprintf("%s%d", formatName, int(f)) }

// known reports whether this package supports the format.
func (f Format) known() bool { return LineFormat <= f && f <= Latest }

// UnknownFormatError means that an input has a format of a later version. It does not indicate
// tampering: use a newer program.
type UnknownFormatError struct {
	What string // such as "the checkpoint is in the format \"hookrouter-audit v3\""
	// Text of the checkpoint; empty for anything else.
	Text string
}

func (e *UnknownFormatError) Error() string {
	return e.What + ", which is newer than this version knows: use a newer one"
}

// parseFormat parses the first line of a checkpoint's text.
func parseFormat(text string) (Format, error) {
	line, _, _ := strings.Cut(text, "\n")
	number, ok := strings.CutPrefix(line, formatName)
	n, isNumber := parseCount(number)
	switch f := Format(n); {
	case !ok || !isNumber || n == 0:
		return 0, fmt.Errorf("the first line is not %q", LineFormat)
	case !f.known():
		return 0, &UnknownFormatError{What: fmt.Sprintf("the checkpoint is in the format %q", f), Text: text}
	default:
		return f, nil
	}
}

// Message is one message of a log, as stored in the stream.
type Message struct {
	Subject string
	Stored  time.Time // when the server stored the message
	Body    []byte
}

// appendHead appends what a leaf covers besides a message's lines: the stored time in the form of
// an export, a space, and the subject.
func appendHead[T string | []byte](buf []byte, stored, subject T) []byte {
	buf = append(append(buf, stored...), ' ')
	return append(buf, subject...)
}

// head is [appendHead] for a message of the stream.
func (m Message) head(buf []byte) ([]byte, error) {
	if !utf8.ValidString(m.Subject) {
		return nil, fmt.Errorf("the subject %q is not UTF-8", clip([]byte(m.Subject)))
	}
	buf = m.Stored.UTC().AppendFormat(buf, time.RFC3339Nano)
	return append(append(buf, ' '), m.Subject...), nil
}

// leafSums begins the input of a leaf's hash, before the SHA-256s of the lines: a zero byte and the
// SHA-256 of the head.
func leafSums(buf, head []byte) []byte {
	sum := sha256.Sum256(head)
	return append(append(buf[:0], 0), sum[:]...)
}

// leaf returns the leaf of a message in a format. sums are [leafSums] and the SHA-256s of the
// lines. With [LineFormat] it overwrites sums, so that must be the last use of them.
func (f Format) leaf(sums []byte) tlog.Hash {
	if f == LineFormat {
		sums = sums[sha256.Size:]
		sums[0] = 0
	}
	return sha256.Sum256(sums) // tlog.RecordHash without its allocations
}
