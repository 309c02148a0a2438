package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// signed says how much of the live segment a router or a witness signed.
type signed struct {
	By      string `json:"by"`
	Size    int64  `json:"size"` // messages
	Time    string `json:"time"`
	Current bool   `json:"current"` // it covers the whole segment
}

// State returns for the console how far the log is signed and witnessed. It proves nothing, since a
// router can't vouch for itself; the commands that it lists do.
func (s scanned) State(ctx context.Context) ([]byte, error) {
	ctx, l, done, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	segments, err := l.Segments(ctx)
	if err != nil {
		return nil, unreadable(err)
	}
	live := segments[len(segments)-1]
	state, err := l.State(ctx, live)
	if err != nil {
		return nil, unreadable(err)
	}
	body := struct {
		Origin    string   `json:"origin"`
		Segments  int      `json:"segments"`
		Messages  uint64   `json:"messages"` // of the live segment
		Signed    *signed  `json:"signed"`   // null if nobody signed
		Witnesses []signed `json:"witnesses"`
		Problem   string   `json:"problem,omitempty"` // why this router does not serve
		Next      []string `json:"next"`
	}{Origin: l.Origin(live), Segments: len(segments), Messages: state.Last, Witnesses: []signed{}, Next: []string{"hookctl audit verify"}}
	if err := s.n.Ready(); err != nil {
		body.Problem = err.Error()
	}
	note, err := l.LastNote(ctx, live.Name())
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		return nil, unreadable(err)
	}
	if err == nil && note.OK {
		body.Signed = &signed{signers(note.Signed), note.Size, stamp(note.Time), uint64(note.Size) >= state.Last}
	}
	heads, err := l.Heads(ctx, live.Name())
	if err != nil {
		return nil, unreadable(err)
	}
	for _, head := range heads {
		if head.OK {
			body.Witnesses = append(body.Witnesses, signed{signers(head.Signed), head.Size, stamp(head.Time), uint64(head.Size) >= state.Last})
		}
	}
	return json.Marshal(body)
}

// signers returns the signers' names below a checkpoint, unverified.
func signers(text []byte) string {
	_, signatures, _ := strings.Cut(string(text), "\n\n")
	var names []string
	for line := range strings.SplitSeq(signatures, "\n") {
		if fields := strings.Fields(line); len(fields) == 3 {
			names = append(names, fields[1])
		}
	}
	return strings.Join(names, ", ")
}
