package witness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

// ErrKey means that a checkpoint is signed with a key that the witness does not know.
var ErrKey = errors.New("no known router's key has signed it: give a new router's key with --key, and keep the old ones")

// Refusal is the reason why a witness stopped signing. Its JSON form is the proof next to the
// state.
type Refusal struct {
	Reason  string    `json:"reason"`
	Time    time.Time `json:"time"`
	Witness string    `json:"witness"` // name of its key
	Origin  string    `json:"origin"`
	// Signed is the last checkpoint that the witness signed, with its signature; empty if there is
	// none.
	Signed string `json:"signed,omitempty"`
	// Found is the log's conflicting checkpoint; empty if the messages conflict.
	Found string `json:"found,omitempty"`
	// Size and Root are those of the tree over the existing messages that were read.
	Size int64  `json:"size"`
	Root string `json:"root,omitempty"`
	// File is the path of the proof.
	File string `json:"-"`
}

// Error implements error.
func (r *Refusal) Error() string {
	text := "REFUSED: the audit log"
	if r.Origin != "" {
		text += " " + r.Origin
	}
	return fmt.Sprintf("%s is not the one that was seen: %s", text, r.Reason)
}

// missing is a refusal because content is missing. On a lagging replica it may reappear.
type missing struct {
	refusal  *Refusal
	revision uint64 // see [absence]
}

func (m *missing) Error() string { return m.refusal.Reason }

// conflict is a refusal because of a contradiction. found may be nil.
func (w *Witness) conflict(found []byte, format string, args ...any) *Refusal {
	r := &Refusal{Reason: fmt.Sprintf(format, args...), Time: time.Now().UTC(), Witness: w.Verifier.Name(), Found: string(found)}
	if w.at.segment.Stream != nil {
		r.Origin = w.origin()
	}
	if w.kept != nil {
		r.Signed, r.Origin = w.kept.Checkpoint, cmp.Or(r.Origin, w.kept.Origin)
	}
	if w.log != nil && w.log.Size() > 0 {
		r.Size, r.Root = w.log.Size(), w.log.Root(w.log.Format()).String()
	}
	return r
}

// gone is conflict for content that may reappear.
func (w *Witness) gone(found []byte, format string, args ...any) error {
	return &missing{refusal: w.conflict(found, format, args...)}
}

func (w *Witness) proofFile() string { return w.State + ".fork.json" }

// refuse stores the proof and reports it.
func (w *Witness) refuse(r *Refusal) error {
	r.File = w.proofFile()
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = atomicfile.Write(r.File, append(text, '\n'), 0o600)
	}
	w.tell(Event{Time: r.Time, Kind: "refused", Text: r.Error()})
	if err != nil {
		return fmt.Errorf("%w (and the proof could not be stored: %w)", r, err)
	}
	return r
}

// refused returns the refusal of an earlier run, nil for none.
func (w *Witness) refused() error {
	text, err := os.ReadFile(w.proofFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r := &Refusal{File: w.proofFile()}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return fmt.Errorf("read the proof of an earlier refusal: %w", err)
	}
	return r
}

// knownKey distinguishes an unknown key from a forged checkpoint.
func (w *Witness) knownKey(signed []byte) bool {
	_, err := note.Open(signed, w.keys)
	_, unknown := errors.AsType[*note.UnverifiedNoteError](err)
	return !unknown
}
