package query

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Place is a record's position in the log.
type Place struct {
	Segment  int       // from 1
	Stream   string    // of the segment
	Seq      int64     // of the message in the stream
	Position int       // of the line in the message, from 0
	Stored   time.Time // the server's time of the message
}

// String returns the form that people write: 2/17:0, or 17:0 in the first segment.
func (p Place) String() string {
	text := fmt.Sprintf("%d:%d", p.Seq, p.Position)
	if p.Segment > 1 {
		text = fmt.Sprintf("%d/%s", p.Segment, text)
	}
	return text
}

// Record is one line of the log. It has the members of all kinds; those that a kind lacks are
// zero.
type Record struct {
	Place `json:"-"`
	// Line is the line without LF.
	Line json.RawMessage `json:"-"`
	// Err says why the line is malformed. Then only Place and Line are set.
	Err error `json:"-"`

	Time    time.Time  `json:"time"`
	Kind    audit.Kind `json:"kind"`
	ChainID string     `json:"chain_id"`
	Session string     `json:"session_id"`
	Event   string     `json:"event"`
	Hook    string     `json:"hook"`
	Action  string     `json:"action"`
	EventID string     `json:"event_id"`
	Writer  string     `json:"writer"`
	WSeq    int64      `json:"wseq"`

	Reason  string `json:"reason"`
	Rule    string `json:"rule"`    // that decided, as the hook's worker names it
	Error   string `json:"error"`   // the cause of a failure
	Message string `json:"message"` // to the user
	Micros  int64  `json:"us"`

	// Of calls of hooks.
	Policy     string          `json:"policy"`  // the version of the policy that the worker applied
	Group      int             `json:"group"`   // of hooks called at the same time; 0: alone
	Started    time.Time       `json:"started"` // zero in records of older routers
	Failure    string          `json:"failure"`
	FailedOpen bool            `json:"failed_open"`
	Shadow     bool            `json:"shadow"`
	Late       bool            `json:"late"`
	Data       *Data           `json:"data"`
	Changes    json.RawMessage `json:"changes"`
	Injection  *Data           `json:"injection"`
	Labels     []string        `json:"labels"` // that the hook added; of a chain, those of its session

	// Of chains.
	Agent      string `json:"agent"`
	Emitter    string `json:"emitter"`
	Root       string `json:"root"`
	Depth      int    `json:"depth"`
	DeniedBy   string `json:"denied_by"`
	ApprovalID string `json:"approval_id"`
	Called     int    `json:"called"`
	Skipped    int    `json:"skipped"`
	In         *Data  `json:"in"`
	Out        *Data  `json:"out"`

	// Of injections and of what the user was shown.
	Role       string `json:"role"`
	Bytes      int    `json:"bytes"`
	Tokens     int    `json:"tokens"`
	Ephemeral  bool   `json:"ephemeral"`
	Dropped    string `json:"dropped"`
	Cleaned    int    `json:"cleaned"`
	Text       *Data  `json:"text"`
	Level      string `json:"level"`
	Suppressed bool   `json:"suppressed"`

	// Of approval requests and their decisions.
	Prompt     string    `json:"prompt"`
	Options    []string  `json:"options"`
	Default    string    `json:"default"`
	Expires    time.Time `json:"expires"`
	DataSHA256 string    `json:"data_sha256"`
	Option     string    `json:"option"`
	Granted    bool      `json:"granted"`
	DecidedBy  string    `json:"decided_by"`
	ClaimedBy  string    `json:"claimed_by"`
	Note       string    `json:"note"`
	TimedOut   bool      `json:"timed_out"`
	Person     string    `json:"person"` // whose identity By is, of a review
	Scope      string    `json:"scope"`  // of an "Allow always" beyond its session, or of a freeze

	GrantExpires time.Time `json:"grant_expires"` // of an "Allow always"; zero for never

	HookName       string   `json:"hook_name"` // empty where it is the hook's id
	ShadowRule     string   `json:"shadow_rule"`
	ShadowDecision string   `json:"shadow_decision"`
	ApprovedBy     []string `json:"approved_by"` // if several people had to allow

	// Of policies, besides Policy and By.
	Was    string `json:"was"`
	Use    string `json:"use"`
	Commit string `json:"commit"`

	// Of identities: whose, and the digest of all.
	Name   string `json:"name"`
	Digest string `json:"digest"`

	// Of registrations, and of the log itself.
	Revision     int64           `json:"revision"`
	By           string          `json:"by"`
	Registration json.RawMessage `json:"registration"`
	Lost         int             `json:"lost"`
}

// Data is what a record contains of an event's data, see [audit.Data].
type Data struct {
	SHA256   string          `json:"sha256"`
	Salt     string          `json:"salt"`
	Value    json.RawMessage `json:"value"`
	Redacted bool            `json:"redacted"`
	Omitted  int             `json:"omitted"`
}

// Decode decodes one line of the log, without its LF.
func Decode(line []byte) Record {
	var r Record
	err := audit.CheckLine(line)
	if err == nil {
		err = jsonv2.Unmarshal(line, &r)
	}
	if err != nil {
		r = Record{Err: fmt.Errorf("read record: %w", err)}
	}
	r.Line = line
	return r
}

// Review describes in a sentence an answer that did not end its request.
func (r Record) Review() string {
	did := " passed it on"
	if r.Action == "allow" {
		did = " allowed"
	}
	text := cmp.Or(r.Person, r.By) + did
	if r.Note != "" {
		text += ": " + r.Note
	}
	return text
}

// Holds describes the scope and expiry of an "Allow always"; empty for other decisions.
func (r Record) Holds() string {
	if r.Kind != audit.ApprovalDecided || !r.Granted || !approval.Remembered(r.Option) || len(r.ApprovedBy) > 0 {
		return ""
	}
	text := "for the " + cmp.Or(r.Scope, approval.ScopeSession)
	if !r.GrantExpires.IsZero() {
		text += " until " + approval.At(r.GrantExpires).String()
	}
	return text
}

// OfHook reports whether the record is about a call of a hook.
func (r *Record) OfHook() bool {
	switch r.Kind {
	case audit.HookResult, audit.HookError, audit.HookTimeout, audit.HookSkipped:
		return true
	default:
		return false
	}
}

// endsChain reports whether the record is the last of its chain, apart from answers of shadow
// hooks and a person's decision.
func (r *Record) endsChain() bool { return r.Kind == audit.ChainResult || r.Kind == audit.ChainRefused }

// message calls handle for each record of a message, except for lines that skip rejects.
func message(segment int, stream string, msg natsx.Record, skip func(line []byte) bool, handle func(Record) error) error {
	place := Place{Segment: segment, Stream: stream, Seq: int64(msg.Sequence), Stored: msg.Time}
	lines, err := audit.Lines(msg.Body)
	if err != nil {
		return handle(Record{Place: place, Line: bytes.TrimSuffix(msg.Body, []byte("\n")), Err: fmt.Errorf("read message: %w", err)})
	}
	for i, line := range lines {
		if skip(line) {
			continue
		}
		r := Decode(line)
		r.Place, r.Position = place, i
		if err := handle(r); err != nil {
			return err
		}
	}
	return nil
}
