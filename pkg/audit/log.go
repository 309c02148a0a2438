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

// maxWriters bounds the memory of a reader of a log.
const maxWriters = 1 << 16

// Log follows a segment: it takes the messages in order and knows size, root and the head
// of each writer. The zero Log is empty and knows no format yet: it has a root in each of
// them until [Log.SetFormat]. Its memory does not grow with the messages. An error is final:
// the segment is invalid from there.
type Log struct {
	format  Format       // 0: not known yet
	trees   [Latest]Tree // by format; with a format only its own grows
	size    int64
	writers map[string]*WriterHead
	last    *WriterHead // the writer of the line before: mostly that of the next
	records int64
	scan    scanner
	head    []byte // of the message that is read
	sums    []byte // of its head and its lines, see [leafSums]
}

// WriterHead is the last record of one writer.
type WriterHead struct {
	ID   string // of the router process
	WSeq int64  // its number among the writer's records, from 1
	Seq  int64  // the sequence of its message in the stream
}

// LogAt is the log as a checkpoint left it; subtrees are those of its tree then
// ([Log.Subtrees]), which need no trust: they must hash to the root.
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

// Format of the log; 0 if it is not known yet.
func (l *Log) Format() Format { return l.format }

// SetFormat says which format the log has, as its first checkpoint does.
func (l *Log) SetFormat(f Format) { l.format = f }

// Append takes the next message. The error says what is wrong with it.
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

// Lines splits a message into its lines, without their LF. Each must end with one; their
// content is not checked.
func Lines(body []byte) ([][]byte, error) {
	if len(body) == 0 {
		return nil, errors.New("a message without lines")
	}
	if body[len(body)-1] != '\n' {
		return nil, errors.New("the last line does not end with LF")
	}
	return bytes.Split(body[:len(body)-1], []byte{'\n'}), nil
}

// append takes the lines of a message whose head is set, and their marks where they are
// known.
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

// count takes a writer's next record.
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

// Size is the number of messages, and the sequence of the last one.
func (l *Log) Size() int64 { return l.size }

// Records is the number of records that were appended.
func (l *Log) Records() int64 { return l.records }

// Root is the root of the tree in a format, which is that of the log if it has one.
func (l *Log) Root(f Format) tlog.Hash { return l.trees[f-1].Root() }

// formatOf is the format in which the log has a root; 0 if it has it in none.
func (l *Log) formatOf(root tlog.Hash) Format {
	for f := LineFormat; f <= Latest; f++ {
		if (l.format == 0 || l.format == f) && l.Root(f) == root {
			return f
		}
	}
	return 0
}

// roots names the root, or the roots in all formats.
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

// Subtrees is what [LogAt] needs to go on later, besides a checkpoint of this size and
// format.
func (l *Log) Subtrees(f Format) []tlog.Hash { return l.trees[f-1].Subtrees() }

// Writers are the heads of all writers, sorted by id.
func (l *Log) Writers() []WriterHead {
	heads := make([]WriterHead, 0, len(l.writers))
	for _, head := range slices.SortedFunc(maps.Values(l.writers), byID) {
		heads = append(heads, *head)
	}
	return heads
}

func byID(a, b *WriterHead) int { return strings.Compare(a.ID, b.ID) }

// Checkpoint states the log as it is now, in a format, which is that of the log where it has
// one.
// previous is the [Checkpoint.Digest] of the checkpoint before; zero for the first.
func (l *Log) Checkpoint(f Format, origin string, now time.Time, previous tlog.Hash) Checkpoint {
	return Checkpoint{
		Format: f, Origin: origin, Size: l.Size(), Root: l.Root(f), Time: now.UTC().Truncate(time.Millisecond), Previous: previous, Writers: l.Writers(),
	}
}
