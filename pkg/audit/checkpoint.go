package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Formats of times, which are in UTC.
const (
	timeLayout  = "2006-01-02T15:04:05.000Z"
	startLayout = "2006-01-02T15:04:05.000000Z" // of calls, which take microseconds
)

// Checkpoint states the size and root of a log. It proves nothing until it is signed.
type Checkpoint struct {
	Format   Format       // of the segment
	Origin   string       // the log: a word, prefix and segment
	Size     int64        // number of messages, at least 1
	Root     tlog.Hash    // of the tree over the messages
	Time     time.Time    // UTC, milliseconds
	Previous tlog.Hash    // Digest of the previous checkpoint; zero for the first
	Writers  []WriterHead // of all writers within Size, sorted by id
	// Extra are further lines, "key value". Readers ignore keys that they do not know. Keys are
	// words other than "writer".
	Extra []string
}

// Origin returns the name of a segment's log: the subject prefix and the stream's name.
func Origin(prefix, segment string) string { return prefix + "/" + segment }

// Text returns the text to sign.
func (c Checkpoint) Text() string {
	var b strings.Builder
	previous := "-"
	if c.Previous != (tlog.Hash{}) {
		previous = c.Previous.String()
	}
	fmt.Fprintf(&b, "%s\n%s\n%d\n%s\n%s\n%s\n", c.Format, c.Origin, c.Size, c.Root, c.Time.UTC().Format(timeLayout), previous)
	for _, head := range c.Writers {
		fmt.Fprintf(&b, "writer %s %d %d\n", head.ID, head.WSeq, head.Seq)
	}
	for _, line := range c.Extra {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Digest returns the SHA-256 of the text, by which the next checkpoint refers to this one. It does
// not cover signatures, so witnesses can add theirs later.
func (c Checkpoint) Digest() tlog.Hash { return sha256.Sum256([]byte(c.Text())) }

// Sign signs the checkpoint as the router. It returns an error if the checkpoint could not be
// parsed again.
func (c Checkpoint) Sign(router note.Signer) ([]byte, error) {
	if _, err := ParseCheckpoint(c.Text()); err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	return note.Sign(&note.Note{Text: c.Text()}, router)
}

// ParseCheckpoint parses the text of a checkpoint, without signatures. It accepts only the output
// of [Checkpoint.Text]. The error is an [UnknownFormatError] if a later version wrote it.
func ParseCheckpoint(text string) (Checkpoint, error) {
	c, err := parseCheckpoint(text)
	if err == nil && c.Text() != text {
		err = errors.New("not written as it must be: a number, a time or a base64 text has another usual form")
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("parse checkpoint: %w", err)
	}
	return c, nil
}

func parseCheckpoint(text string) (c Checkpoint, err error) {
	if c.Format, err = parseFormat(text); err != nil {
		return c, err
	}
	lines := strings.Split(text, "\n")
	if len(lines) < 7 || lines[len(lines)-1] != "" {
		return c, errors.New("it ends too early")
	}
	if c.Origin = lines[1]; !isWord(c.Origin) {
		return c, errors.New("the origin is not a word")
	}
	var ok bool
	if c.Size, ok = parseCount(lines[2]); !ok || c.Size == 0 {
		return c, errors.New("the size is not a number from 1")
	}
	if c.Root, err = tlog.ParseHash(lines[3]); err != nil {
		return c, errors.New("the root is not base64 of 32 bytes")
	}
	if c.Time, err = time.Parse(timeLayout, lines[4]); err != nil {
		return c, errors.New("the time is not RFC 3339 in UTC with milliseconds")
	}
	if lines[5] != "-" {
		if c.Previous, err = tlog.ParseHash(lines[5]); err != nil {
			return c, errors.New("the predecessor is neither - nor base64 of 32 bytes")
		}
	}
	for _, line := range lines[6 : len(lines)-1] {
		if err := c.parseMore(line); err != nil {
			return c, err
		}
	}
	return c, nil
}

// parseMore parses one of the lines after the fixed ones.
func (c *Checkpoint) parseMore(line string) error {
	key, value, ok := strings.Cut(line, " ")
	if !ok || !isWord(key) || strings.TrimSpace(value) == "" || strings.ContainsFunc(value, notText) {
		return fmt.Errorf("the line %s is not \"key value\"", strconv.Quote(clip([]byte(line))))
	}
	if key != "writer" {
		c.Extra = append(c.Extra, line)
		return nil
	}
	head, ok := parseWriter(value)
	switch {
	case !ok || head.Seq > c.Size:
		return errors.New("a writer line is not \"writer ID WSEQ SEQUENCE\" within the size")
	case len(c.Extra) > 0:
		return errors.New("a writer line stands after others")
	case len(c.Writers) > 0 && c.Writers[len(c.Writers)-1].ID >= head.ID:
		return errors.New("the writers are not sorted")
	}
	c.Writers = append(c.Writers, head)
	return nil
}

// notText reports whether a note can't contain c.
func notText(c rune) bool { return c < ' ' || c == utf8.RuneError }

func parseWriter(value string) (WriterHead, bool) {
	parts := strings.Split(value, " ")
	if len(parts) != 3 || !isWord(parts[0]) {
		return WriterHead{}, false
	}
	wseq, ok1 := parseCount(parts[1])
	seq, ok2 := parseCount(parts[2])
	return WriterHead{parts[0], wseq, seq}, ok1 && ok2 && wseq > 0 && seq > 0
}
