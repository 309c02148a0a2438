package audit

import (
	"bytes"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Kind is what a record is about. Readers skip unknown kinds.
type Kind string

// The kinds of the protocol.
const (
	// HookResult: a hook was called and answered.
	HookResult Kind = "hook.result"
	// HookError: a hook was called and failed, or had no responder.
	HookError Kind = "hook.error"
	// HookTimeout: a hook did not answer in its time.
	HookTimeout Kind = "hook.timeout"
	// HookSkipped: the event did not match the hook's condition.
	HookSkipped Kind = "hook.skipped"
	// ChainResult: what a chain decided.
	ChainResult Kind = "chain.result"
	// InjectionKind: a text was put into an agent's context, or dropped.
	InjectionKind Kind = "injection"
	// ApprovalRequested: a person was asked.
	ApprovalRequested Kind = "approval.requested"
	// ApprovalDecided: an approval request was decided.
	ApprovalDecided Kind = "approval.decided"
	// DisplayKind: a message was shown to the user, or a hook's output hidden.
	DisplayKind Kind = "display"
	// RegistrationKind: a hook was registered, changed or removed.
	RegistrationKind Kind = "registration"
)

// Further kinds, of this router.
const (
	// ChainRefused: a chain decided, but the log did not take the record in time. The agent
	// got an error, which permits nothing.
	ChainRefused Kind = "chain.refused"
	// ApprovalRevoked: an "Allow always" of a session was revoked.
	ApprovalRevoked Kind = "approval.revoked"
	// ApprovalRevealed: somebody was shown the data of an approval request with its secrets.
	ApprovalRevealed Kind = "approval.revealed"
	// ApprovalReviewed: an answer did not end an approval request: others must allow too, or
	// it passed the request on.
	ApprovalReviewed Kind = "approval.reviewed"
	// ApprovalReplayed: an event was sent again after it was approved.
	ApprovalReplayed Kind = "approval.replayed"
	// FreezeKind: an operator froze agents, or thawed them.
	FreezeKind Kind = "freeze"
	// LabelsKind: a person removed labels from a session (removed), or did not, since the session
	// got them again after the question (kept).
	LabelsKind Kind = "labels"
	// PolicyKind: an operator pushed a signed policy for workers, or rolled one back. A record
	// "refused" after it says that another push was faster.
	PolicyKind Kind = "policy"
	// IdentityKind: a router read that credentials were added, changed, rotated, revoked or
	// removed; or, at its start (loaded), which ones there are.
	IdentityKind Kind = "identity"
	// LogKind: something about the log itself: settings that drifted, records that
	// were lost, two histories.
	LogKind Kind = "log"
)

// Record is one line of the log.
type Record struct {
	Time    time.Time // written in UTC with milliseconds
	Kind    Kind
	ChainID string // empty if no chain runs
	Session string
	Event   string // the event's name
	Hook    string // the hook's id; empty for what is about the chain
	Action  string // what was decided or done
	EventID string // left out if empty

	// Writer is the id of the router process, a word, and WSeq counts its
	// records from 1 without a gap. Both are left out if Writer is empty.
	Writer string
	WSeq   int64

	// Detail is what the kind adds; nil for nothing.
	Detail Detail
}

// Detail is what a kind of record adds to it: [Call], [Chain], [Injection], [ApprovalRequest],
// [Decision], [Review], [Replay], [Display], [Change], [Freeze], [Labels], [Policy], [Identity] or
// [Note].
type Detail interface {
	write(w *events.ObjectWriter)
}

// Append appends the record to buf as a line of the log, with its LF. JSON in a
// Detail must be valid; it is written byte for byte where it is on one line.
func (r Record) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	w.String("time", r.Time.UTC().Format(timeLayout))
	w.String("kind", string(r.Kind))
	w.String("chain_id", r.ChainID)
	w.String("session_id", r.Session)
	w.String("event", r.Event)
	w.String("hook", r.Hook)
	w.String("action", r.Action)
	w.Text("event_id", r.EventID)
	if r.Detail != nil {
		r.Detail.write(&w)
	}
	if r.Writer != "" {
		w.String("writer", r.Writer)
		w.Int("wseq", r.WSeq)
	}
	return append(w.End(), '\n')
}

// Number appends lines to buf as records of a writer, the first with the number wseq,
// and returns the number after the last. The lines are those of records without a writer,
// as [Record.Append] made them; the writer is a word.
func Number(buf, lines []byte, writer string, wseq int64) ([]byte, int64) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		buf = append(buf, lines[:end-1]...) // without the brace
		buf = append(buf, `,"writer":"`...)
		buf = append(buf, writer...)
		buf = append(buf, `","wseq":`...)
		buf = strconv.AppendInt(buf, wseq, 10)
		buf = append(buf, "}\n"...)
		lines = lines[end+1:]
		wseq++
	}
	return buf, wseq
}
