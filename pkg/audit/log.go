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

// maxWriters bounds what a log makes its reader remember.
const maxWriters = 1 << 16

// Log follows a log: it takes the messages in order and knows size, root and
// the head of each writer. The zero Log is empty. Its memory does not grow with
// the messages. After an error it is at its end: the log is invalid from there.
type Log struct {
	tree    Tree
	writers map[string]*WriterHead
	last    *WriterHead // the writer of the line before: mostly that of the next
	records int64
	scan    scanner
	sums    []byte // of the message that is read, behind the prefix of a leaf
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
	tree, err := TreeOf(c.Size, subtrees)
	if err != nil {
		return nil, err
	}
	if tree.Root() != c.Root {
		return nil, errors.New("restore log: the subtrees are not those of the checkpoint")
	}
	l := &Log{tree: tree, writers: make(map[string]*WriterHead, len(c.Writers))}
	for _, head := range c.Writers {
		l.writers[head.ID] = &head
	}
	return l, nil
}

// Append takes the next message. The error says what is wrong with it.
func (l *Log) Append(body []byte) error {
	lines, err := Lines(body)
	if err != nil {
		return err
	}
	return l.append(lines, nil)
}

// Lines cuts a message into its lines, without their LF. Each must be ended by one;
// what is in them is not looked at.
func Lines(body []byte) ([][]byte, error) {
	if len(body) == 0 {
		return nil, errors.New("a message without lines")
	}
	if body[len(body)-1] != '\n' {
		return nil, errors.New("the last line does not end with LF")
	}
	return bytes.Split(body[:len(body)-1], []byte{'\n'}), nil
}

// append takes lines, and their marks where they are known.
func (l *Log) append(lines [][]byte, marks [][]int32) error {
	if len(lines) == 0 {
		return errors.New("a message without lines")
	}
	l.sums = append(l.sums[:0], 0) // tlog.RecordHash without its allocations
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
	l.tree.Append(sha256.Sum256(l.sums))
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
	head.WSeq, head.Seq = f.wseq, l.tree.size+1
	l.last = head
	return nil
}

// Size is the number of messages, and the sequence of the last one.
func (l *Log) Size() int64 { return l.tree.Size() }

// Records is the number of records that were appended.
func (l *Log) Records() int64 { return l.records }

// Root is the root of the tree.
func (l *Log) Root() tlog.Hash { return l.tree.Root() }

// Subtrees is what [LogAt] needs to go on later, besides a checkpoint of this size.
func (l *Log) Subtrees() []tlog.Hash { return l.tree.Subtrees() }

// Writers are the heads of all writers, sorted by id.
func (l *Log) Writers() []WriterHead {
	heads := make([]WriterHead, 0, len(l.writers))
	for _, head := range slices.SortedFunc(maps.Values(l.writers), byID) {
		heads = append(heads, *head)
	}
	return heads
}

func byID(a, b *WriterHead) int { return strings.Compare(a.ID, b.ID) }

// Checkpoint states the log as it is now. previous is the [Checkpoint.Digest] of
// the checkpoint before; zero for the first.
func (l *Log) Checkpoint(origin string, now time.Time, previous tlog.Hash) Checkpoint {
	return Checkpoint{
		Origin: origin, Size: l.Size(), Root: l.Root(), Time: now.UTC().Truncate(time.Millisecond), Previous: previous, Writers: l.Writers(),
	}
}
