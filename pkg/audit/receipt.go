package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/tlog"
)

// Receipt proves that one record is in the log of a checkpoint. Of other records it contains only
// hashes, which can confirm a guess of their content. It is exchanged as JSON.
type Receipt struct {
	Version    Format           `json:"hookrouter_audit_receipt"` // the format of the segment
	Line       string           `json:"line"`                     // the record, without LF
	Seq        int64            `json:"seq"`                      // of its message in the stream
	Time       string           `json:"time,omitempty"`           // when the server stored the message; empty in [LineFormat]
	Subject    string           `json:"subject,omitempty"`        // of the message; empty in [LineFormat]
	Position   int              `json:"position"`                 // of the line in the message, from 0
	Siblings   []tlog.Hash      `json:"siblings"`                 // SHA-256s of the message's other lines, in order
	Proof      tlog.RecordProof `json:"proof"`                    // from the message's leaf to the root
	Checkpoint string           `json:"checkpoint"`               // signed
}

// Prove returns the receipt for one line of an export, at position (from 0) in message seq, under
// the last checkpoint of the file. It needs 32 bytes of memory for each message. It does not check
// signatures: use [Receipt.Check].
func Prove(ctx context.Context, in io.Reader, seq int64, position int) (Receipt, error) {
	receipt, err := prove(ctx, in, seq, position)
	if err != nil {
		return Receipt{}, fmt.Errorf("prove record %d of message %d: %w", position, seq, err)
	}
	return receipt, nil
}

func prove(ctx context.Context, in io.Reader, seq int64, position int) (Receipt, error) {
	r, err := NewReader(in)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Seq: seq, Position: position}
	var leaves leaves
	covered := 0
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			return Receipt{}, err
		case e.Checkpoint != nil:
			receipt.Checkpoint, covered = string(e.Checkpoint), leaves.size
			if err := leaves.setFormat(receipt.Checkpoint); err != nil {
				return Receipt{}, fmt.Errorf("line %d of the export: %w", e.Line, err)
			}
			continue
		case e.Seq != int64(leaves.size)+1 || len(e.Lines) == 0:
			return Receipt{}, fmt.Errorf("line %d of the export is not message %d: verify the export", e.Line, leaves.size+1)
		case e.Seq == seq && (position < 0 || position >= len(e.Lines)):
			return Receipt{}, fmt.Errorf("the message has %d records, and positions count from 0", len(e.Lines))
		case e.Seq == seq:
			receipt.take(e)
		}
		leaves.add(e)
		if leaves.size%stride == 0 && ctx.Err() != nil {
			return Receipt{}, context.Cause(ctx)
		}
	}
	if seq < 1 || seq > int64(covered) {
		return Receipt{}, fmt.Errorf("the last checkpoint of the export covers messages 1 to %d", covered)
	}
	if receipt.Version = leaves.format; receipt.Version == LineFormat {
		receipt.Time, receipt.Subject = "", ""
	}
	receipt.Proof = proveLeaf(leaves.of[leaves.format-1][:covered], seq-1)
	return receipt, nil
}

// leaves are the leaves of the messages of an export, in all formats until the first checkpoint.
type leaves struct {
	format Format // 0 while unknown
	of     [Latest][]tlog.Hash
	size   int
	head   []byte
	sums   []byte
}

func (l *leaves) add(e *Entry) {
	l.head = appendHead(l.head[:0], e.Time, e.Subject)
	l.sums = leafSums(l.sums, l.head)
	for _, line := range e.Lines {
		sum := sha256.Sum256(line)
		l.sums = append(l.sums, sum[:]...)
	}
	for f := Latest; f >= LineFormat; f-- {
		if l.format == 0 || l.format == f {
			l.of[f-1] = append(l.of[f-1], f.leaf(l.sums))
		}
	}
	l.size++
}

// setFormat sets the format to that of the first checkpoint.
func (l *leaves) setFormat(checkpoint string) (err error) {
	if l.format == 0 {
		l.format, err = parseFormat(checkpoint)
	}
	return err
}

// take stores the line to prove and the hashes of the other lines.
func (r *Receipt) take(e *Entry) {
	r.Time, r.Subject = string(e.Time), string(e.Subject)
	r.Line, r.Siblings = string(e.Lines[r.Position]), []tlog.Hash{}
	for i, line := range e.Lines {
		if i != r.Position {
			r.Siblings = append(r.Siblings, sha256.Sum256(line))
		}
	}
}

// ParseReceipt parses the JSON form of a receipt, without checking the proof. Ambiguous JSON is an
// error: a duplicate or unknown name, in any case, or invalid UTF-8. The error is an
// [UnknownFormatError] if a later version wrote the receipt.
func ParseReceipt(text []byte) (Receipt, error) {
	var version struct {
		Version Format `json:"hookrouter_audit_receipt"`
	}
	if err := jsonv2.Unmarshal(text, &version); err == nil && version.Version > Latest {
		return Receipt{}, &UnknownFormatError{What: fmt.Sprintf("this is a receipt of version %d", version.Version)}
	}
	var r Receipt
	if err := jsonv2.Unmarshal(text, &r, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Receipt{}, fmt.Errorf("parse receipt: not a receipt of version %d to %d: %w", LineFormat, Latest, err)
	}
	if !r.Version.known() {
		return Receipt{}, fmt.Errorf("parse receipt: not a receipt of version %d to %d", LineFormat, Latest)
	}
	return r, nil
}

// Check verifies, with keys alone, that the record is at its place in a log that a router signed.
// It returns the checkpoint, and whether a known witness signed it too.
func (r Receipt) Check(keys Keys) (c Checkpoint, witnessed bool, err error) {
	if c, witnessed, err = r.check(keys); err != nil {
		return Checkpoint{}, false, fmt.Errorf("check receipt: %w", err)
	}
	return c, witnessed, nil
}

func (r Receipt) check(keys Keys) (c Checkpoint, witnessed bool, err error) {
	if err := keys.Check(); err != nil {
		return c, false, err
	}
	if err := CheckLine([]byte(r.Line)); err != nil {
		return c, false, err
	}
	if c, witnessed, err = keys.Open([]byte(r.Checkpoint)); err != nil {
		return c, false, err
	}
	if r.Position < 0 || r.Position > len(r.Siblings) || r.Seq < 1 || r.Seq > c.Size {
		return c, false, errors.New("the sequence or the position is outside of what the checkpoint covers")
	}
	leaf, err := r.leaf(c.Format)
	if err != nil {
		return c, false, err
	}
	if tlog.CheckRecord(r.Proof, c.Size, c.Root, r.Seq-1, leaf) != nil {
		return c, false, errors.New("this record does not stand at its place in the log that was signed")
	}
	return c, witnessed, nil
}

// leaf returns the leaf of the message in the checkpoint's format.
func (r Receipt) leaf(f Format) (leaf tlog.Hash, err error) {
	named := r.Time != "" || r.Subject != ""
	switch {
	case r.Version != f:
		return leaf, fmt.Errorf("a receipt of version %d for a checkpoint of version %d", r.Version, f)
	case f == LineFormat && named:
		return leaf, fmt.Errorf("a receipt of version %d proves no time and no subject", f)
	case f != LineFormat && !isTime([]byte(r.Time)):
		return leaf, errors.New("the time is not RFC 3339 in UTC, in its shortest form")
	}
	sums := leafSums(nil, appendHead(nil, r.Time, r.Subject))
	for _, sum := range slices.Insert(slices.Clone(r.Siblings), r.Position, tlog.Hash(sha256.Sum256([]byte(r.Line)))) {
		sums = append(sums, sum[:]...)
	}
	return f.leaf(sums), nil
}
