package audit

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Verdict is the result of verifying an export. The zero Verdict means none, and is not OK.
type Verdict string

// The verdicts.
const (
	// OKWitnessed: every record is as it was signed, and a witness has signed the
	// last checkpoint.
	OKWitnessed Verdict = "OK-WITNESSED"
	// OKPinned: every record is as it was signed, and the log continues from a head that
	// is known from elsewhere.
	OKPinned Verdict = "OK-PINNED"
	// OKUnanchored: every record is as it was signed, but nothing outside the file
	// vouches for it: a truncated log, or a history signed anew with the router's key,
	// would look the same.
	OKUnanchored Verdict = "OK-UNANCHORED"
	// Diverged: there are two histories. The log is not the one that was pinned or
	// witnessed, or signed checkpoints do not follow each other.
	Diverged Verdict = "DIVERGED"
	// Invalid: a line is malformed, or records are not what was signed.
	Invalid Verdict = "INVALID"
	// Incomplete: what is there is valid, but the beginning or the end is missing, or a
	// checkpoint over the last messages is.
	Incomplete Verdict = "INCOMPLETE"
	// UnknownFormat: a router has signed it in a format of a later version. Nothing is
	// wrong with what could be read, and nothing is proved: use a newer program.
	UnknownFormat Verdict = "UNKNOWN-FORMAT"
)

// OK reports whether the records are proved to be as they were signed.
func (v Verdict) OK() bool { return v == OKWitnessed || v == OKPinned || v == OKUnanchored }

// ExitCode is the exit code of a program that reports the verdict: 0, 10 and 20
// for the OK ones, 30 DIVERGED, 40 INVALID, 50 INCOMPLETE, 60 UNKNOWN-FORMAT, and 1 for
// none.
func (v Verdict) ExitCode() int {
	if code, known := exitCodes[v]; known {
		return code
	}
	return 1
}

var exitCodes = map[Verdict]int{OKWitnessed: 0, OKPinned: 10, OKUnanchored: 20, Diverged: 30, Invalid: 40, Incomplete: 50, UnknownFormat: 60}

// Pin is a head that was verified before: a later log must continue from it. Its JSON form
// is kept between verifications.
type Pin struct {
	Origin string    `json:"origin"` // of the log
	Size   int64     `json:"size"`
	Root   tlog.Hash `json:"root"`
}

// Report is the outcome of a verification.
type Report struct {
	Verdict Verdict
	Reason  string // one sentence for a person
	// Line is the line of the file that the reason is about, from 1; 0 if it is
	// about none.
	Line int64
	// Seq is the sequence of the message that it is about, or 0. Where records are not
	// what a checkpoint was signed for it is the checkpoint's size: the change is
	// between the checkpoint before and this one.
	Seq int64
	// Differs says that the reason is what the log was compared with: a key, a head or
	// a predecessor of the options. The log may be well, and another one than was meant.
	Differs bool

	Origin      string // of the log; empty if the file has no header
	Messages    int64  // that were read and are well-formed
	Records     int64
	Checkpoints int64 // different ones, whose signatures hold
	Witnessed   int64 // the size of the last checkpoint that a witness has signed
	// Head is the last checkpoint, nil if there is none.
	Head *Checkpoint
	// Pin is what to remember for the next verification; nil unless the verdict is
	// OK.
	Pin *Pin
}

// String is the report in one line.
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
