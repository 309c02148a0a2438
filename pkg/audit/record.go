package audit

import (
	"bytes"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Kind is the kind of a record. Readers skip unknown kinds.
type Kind string

// The kinds defined by the protocol.
const (
	// HookResult: a hook answered.
	HookResult Kind = "hook.result"
	// HookError: a hook failed, or had no responder.
	HookError Kind = "hook.error"
	// HookTimeout: a hook did not answer in time.
	HookTimeout Kind = "hook.timeout"
	// HookSkipped: the hook's match was false.
	HookSkipped Kind = "hook.skipped"
	// ChainResult: a chain made its decision.
	ChainResult Kind = "chain.result"
	// InjectionKind: a text was added to an agent's context, or dropped.
	InjectionKind Kind = "injection"
	// ApprovalRequested: a person was asked.
	ApprovalRequested Kind = "approval.requested"
	// ApprovalDecided: an approval request was decided.
	ApprovalDecided Kind = "approval.decided"
	// DisplayKind: a message was shown to the user, or a hook's output was hidden.
	DisplayKind Kind = "display"
	// RegistrationKind: a hook was registered, changed or removed.
	RegistrationKind Kind = "registration"
)

// Further kinds, defined by this router.
const (
	// ChainRefused: a chain decided, but the log did not store the record in time. The agent got an
	// error, which permits nothing.
	ChainRefused Kind = "chain.refused"
	// ApprovalRevoked: an "Allow always" of a session was revoked.
	ApprovalRevoked Kind = "approval.revoked"
	// ApprovalRevealed: somebody was shown the data of an approval request with its secrets.
	ApprovalRevealed Kind = "approval.revealed"
	// ApprovalReviewed: an answer did not end its approval request, because others must allow too
	// or because it passed the request on.
	ApprovalReviewed Kind = "approval.reviewed"
	// ApprovalReplayed: an event was sent again after it was approved.
	ApprovalReplayed Kind = "approval.replayed"
	// FreezeKind: an operator froze or thawed agents.
	FreezeKind Kind = "freeze"
	// LabelsKind: a person removed labels from a session (action removed), or allowed it in vain,
	// since the session got them again after the question (kept).
	LabelsKind Kind = "labels"
	// PolicyKind: an operator pushed a signed policy for workers, or rolled one back. A following
	// record "refused" means that another push was faster.
	PolicyKind Kind = "policy"
	// IdentityKind: a router read that credentials were added, changed, rotated, revoked or
	// removed, or, at its start, which ones exist (loaded).
	IdentityKind Kind = "identity"
	// LogKind: an event of the log itself, such as settings that drifted, lost records, or two
	// histories.
	LogKind Kind = "log"
)

// Record is one record of the log.
type Record struct {
	Time    time.Time // written in UTC with milliseconds
	Kind    Kind
	ChainID string // empty outside of chains
	Session string
	Event   string // the event's name
	Hook    string // id of the hook; empty if the record is about the chain
	Action  string // the decision or the operation
	EventID string // left out if empty

	// Writer is the id of the router process, a word, and WSeq numbers its records from 1 without
	// gaps. Both are left out if Writer is empty.
	Writer string
	WSeq   int64

	// Detail holds the fields of the kind; nil if there are none.
	Detail Detail
}

// Detail holds the fields that a kind adds to a record. It is a [Call], [Chain], [Injection],
// [ApprovalRequest], [Decision], [Review], [Replay], [Reveal], [Display], [Change], [Freeze],
// [Labels], [Policy], [Identity] or [Note].
type Detail interface {
	write(w *events.ObjectWriter)
}

// Append appends the record to buf as a line of the log, with LF. JSON in a Detail must be valid.
// It is written byte for byte if it is on one line.
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

// Number appends lines to buf as records of a writer, numbered from wseq, and returns the number
// that follows. lines are records without a writer, in the form of [Record.Append]. writer must be
// a word.
func Number(buf, lines []byte, writer string, wseq int64) ([]byte, int64) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		buf = append(buf, lines[:end-1]...) // without the closing brace
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
