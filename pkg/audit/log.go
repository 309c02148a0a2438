package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// maxWriters limits the memory for a log.
const maxWriters = 1 << 16

// Log follows a segment: it takes the messages in order and computes size, root and the last record
// of each writer. The zero Log is empty, and its format is unknown: it keeps a root for each format
// until [Log.SetFormat]. Its memory does not grow with the number of messages. After an error,
// which means that the segment is invalid from there, a Log must not be used.
type Log struct {
	format  Format       // 0 while unknown
	trees   [Latest]Tree // by format; once that is known, only its tree grows
	size    int64
	writers map[string]*WriterHead
	last    *WriterHead // writer of the previous line, which is often also that of the next
	records int64
	scan    scanner
	head    []byte // of the current message
	sums    []byte // of the head and the lines of the current message: see [leafSums]
}

// WriterHead identifies the last record of one writer.
type WriterHead struct {
	ID   string // id of the router process
	WSeq int64  // its number among the writer's records, from 1
	Seq  int64  // the sequence of its message in the stream
}

// LogAt returns the log as of a checkpoint. subtrees are those of its tree at that time
// ([Log.Subtrees]). They need not be trusted, since they must hash to the checkpoint's root.
func LogAt(c Checkpoint, subtrees []tlog.Hash) (*Log, error) {
	if !c.Format.known() {
		return nil, fmt.Errorf("restore log: the format %d is unknown", c.Format)
	}
	tree, err := TreeOf(c.Size, subtrees)
	if err != nil {
		return nil, err
	}
	if tree.Root() != c.Root {
		return nil, errors.New("restore log: the subtrees are not those of the checkpoint")
	}
	l := &Log{format: c.Format, size: c.Size, writers: make(map[string]*WriterHead, len(c.Writers))}
	l.trees[c.Format-1] = tree
	for _, head := range c.Writers {
		l.writers[head.ID] = &head
	}
	return l, nil
}

// Format returns the format of the log; 0 while it is unknown.
func (l *Log) Format() Format { return l.format }

// SetFormat sets the format of the log, as named by its first checkpoint.
func (l *Log) SetFormat(f Format) { l.format = f }

// Append appends the next message. It returns an error if the message is invalid.
func (l *Log) Append(m Message) (err error) {
	if l.head, err = m.head(l.head[:0]); err != nil {
		return err
	}
	lines, err := Lines(m.Body)
	if err != nil {
		return err
	}
	return l.append(lines, nil)
}

// Lines splits a message into its lines, without LF. Each line must end with LF; the content is not
// checked.
func Lines(body []byte) ([][]byte, error) {
	if len(body) == 0 {
		return nil, errors.New("a message without lines")
	}
	if body[len(body)-1] != '\n' {
		return nil, errors.New("the last line does not end with LF")
	}
	return bytes.Split(body[:len(body)-1], []byte{'\n'}), nil
}

// append appends the lines of a message whose head is set. marks are those of the lines, nil if
// unknown.
func (l *Log) append(lines [][]byte, marks [][]int32) error {
	if len(lines) == 0 {
		return errors.New("a message without lines")
	}
	l.sums = leafSums(l.sums, l.head)
	for i, line := range lines {
		var known []int32
		if marks != nil {
			known = marks[i]
		}
		f, err := l.scan.line(line, known)
		if err == nil && f.writer != nil {
			err = l.count(f)
		}
		if err != nil {
			return fmt.Errorf("record %d of the message: %w", i+1, err)
		}
		sum := sha256.Sum256(line)
		l.sums = append(l.sums, sum[:]...)
	}
	for f := Latest; f >= LineFormat; f-- {
		if l.format == 0 || l.format == f {
			l.trees[f-1].Append(f.leaf(l.sums))
		}
	}
	l.size++
	l.records += int64(len(lines))
	return nil
}

// count checks the number of a writer's next record.
func (l *Log) count(f facts) error {
	head := l.last
	if head == nil || head.ID != string(f.writer) {
		head = l.writers[string(f.writer)]
	}
	if head == nil {
		if len(l.writers) == maxWriters {
			return fmt.Errorf("more than %d writers", maxWriters)
		}
		if l.writers == nil {
			l.writers = map[string]*WriterHead{}
		}
		head = &WriterHead{ID: string(f.writer)}
		l.writers[head.ID] = head
	}
	if f.wseq != head.WSeq+1 {
		return fmt.Errorf("record %d of writer %s follows its record %d", f.wseq, head.ID, head.WSeq)
	}
	head.WSeq, head.Seq = f.wseq, l.size+1
	l.last = head
	return nil
}

// Size returns the number of messages, which is also the sequence of the last one.
func (l *Log) Size() int64 { return l.size }

// Records returns the number of records appended.
func (l *Log) Records() int64 { return l.records }

// Root returns the root of the tree in format f, which must be the log's format if that is known.
func (l *Log) Root(f Format) tlog.Hash { return l.trees[f-1].Root() }

// formatOf returns the format in which the log has this root, or 0 if there is none.
func (l *Log) formatOf(root tlog.Hash) Format {
	for f := LineFormat; f <= Latest; f++ {
		if (l.format == 0 || l.format == f) && l.Root(f) == root {
			return f
		}
	}
	return 0
}

// roots returns the root as text, or the roots in all formats while the format is unknown.
func (l *Log) roots() string {
	if l.format != 0 {
		return l.Root(l.format).String()
	}
	var list []string
	for f := LineFormat; f <= Latest; f++ {
		list = append(list, l.Root(f).String())
	}
	return strings.Join(list, " or ")
}

// Subtrees returns the subtrees that [LogAt] needs to continue from a checkpoint of this size and
// format.
func (l *Log) Subtrees(f Format) []tlog.Hash { return l.trees[f-1].Subtrees() }

// Writers returns the last record of each writer, sorted by writer id.
func (l *Log) Writers() []WriterHead {
	heads := make([]WriterHead, 0, len(l.writers))
	for _, head := range slices.SortedFunc(maps.Values(l.writers), byID) {
		heads = append(heads, *head)
	}
	return heads
}

func byID(a, b *WriterHead) int { return strings.Compare(a.ID, b.ID) }

// Checkpoint returns a checkpoint over the log as it is now. f must be the log's format if that is
// known. previous is the [Checkpoint.Digest] of the previous checkpoint; zero for the first.
func (l *Log) Checkpoint(f Format, origin string, now time.Time, previous tlog.Hash) Checkpoint {
	return Checkpoint{
		Format: f, Origin: origin, Size: l.Size(), Root: l.Root(f), Time: now.UTC().Truncate(time.Millisecond), Previous: previous, Writers: l.Writers(),
	}
}
