package audit

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Verdict is the result of verifying an export. The zero Verdict means that there is none, and is
// not OK.
type Verdict string

// The verdicts.
const (
	// OKWitnessed means that every record is as signed, and a witness signed the last checkpoint.
	OKWitnessed Verdict = "OK-WITNESSED"
	// OKPinned means that every record is as signed, and the log continues from a head known from
	// another source.
	OKPinned Verdict = "OK-PINNED"
	// OKUnanchored means that every record is as signed, but nothing outside the file confirms it:
	// a truncated log, or a history signed again with the router's key, would look the same.
	OKUnanchored Verdict = "OK-UNANCHORED"
	// Diverged means that there are two histories: the log is not the one that was pinned or
	// witnessed, or signed checkpoints do not follow each other.
	Diverged Verdict = "DIVERGED"
	// Invalid means that a line is malformed, or that records differ from what was signed.
	Invalid Verdict = "INVALID"
	// Incomplete means that the content is valid, but the beginning or the end is missing, or a
	// checkpoint over the last messages.
	Incomplete Verdict = "INCOMPLETE"
	// UnknownFormat means that a router signed the log in a format of a later version. What could
	// be read is valid, but nothing is proved: use a newer program.
	UnknownFormat Verdict = "UNKNOWN-FORMAT"
)

// OK reports whether the records are proved to be as signed.
func (v Verdict) OK() bool { return v == OKWitnessed || v == OKPinned || v == OKUnanchored }

// ExitCode returns the exit code for programs that report the verdict: 0, 10 and 20 for the OK
// verdicts, 30 for DIVERGED, 40 for INVALID, 50 for INCOMPLETE, 60 for UNKNOWN-FORMAT, and 1 for
// none.
func (v Verdict) ExitCode() int {
	if code, known := exitCodes[v]; known {
		return code
	}
	return 1
}

var exitCodes = map[Verdict]int{OKWitnessed: 0, OKPinned: 10, OKUnanchored: 20, Diverged: 30, Invalid: 40, Incomplete: 50, UnknownFormat: 60}

// Pin is the head of a verified log. A later export must continue from it. It is stored as JSON
// between verifications.
type Pin struct {
	Origin string    `json:"origin"` // of the log
	Size   int64     `json:"size"`
	Root   tlog.Hash `json:"root"`
}

// Report is the result of a verification.
type Report struct {
	Verdict Verdict
	Reason  string // one sentence for a person
	// Line is the line of the file that the reason is about, from 1; 0 if there is none.
	Line int64
	// Seq is the sequence of the message that the reason is about; 0 if there is none. If records
	// differ from what a checkpoint signed, it is the checkpoint's size: the change is between that
	// checkpoint and the previous one.
	Seq int64
	// Differs is set if the log does not match a key, a head or a predecessor in the options. The
	// log may be valid, but another one than expected.
	Differs bool

	Origin      string // empty if the file has no header
	Messages    int64  // number of well-formed messages read
	Records     int64
	Checkpoints int64 // number of different checkpoints with valid signatures
	Witnessed   int64 // size of the last checkpoint signed by a witness
	// Head is the last checkpoint; nil if there is none.
	Head *Checkpoint
	// Pin is the pin for the next verification; nil unless the verdict is OK.
	Pin *Pin
}

// String returns the report in one line.
func (r Report) String() string {
	where := ""
	if r.Line > 0 {
		where = fmt.Sprintf(" line %d", r.Line)
		if r.Seq > 0 {
			where += fmt.Sprintf(", sequence %d", r.Seq)
		}
		where += ":"
	}
	return fmt.Sprintf("%s%s %s", r.Verdict, where, r.Reason)
}
