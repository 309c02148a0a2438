package agenthook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// UncheckedEvent is the event that reports events that passed without a verdict.
const UncheckedEvent = "hook-agent:bypassed"

// maxSpool limits the file of events that passed, in bytes. Further events are shown to the user
// but not stored.
const maxSpool = 256 << 10

// Limits of the quoted texts in a line of the file, in bytes, so that no single event can fill it.
const (
	maxSession = 512
	maxTool    = 256
)

// bypass is an event that passed without a verdict.
type bypass struct {
	Agent   string `json:"agent"`
	Event   string `json:"event"`
	Session string `json:"session_id,omitempty"`
	Tool    string `json:"tool_name,omitempty"`
	Time    string `json:"time"`
	Cause   string `json:"cause"`
}

func (h *Hook) spool() string { return filepath.Join(h.Options.StateDir, supervisor.Spool) }

// remember stores an event that passes, until it can be reported to a router.
func (h *Hook) remember(in input, cause error) error {
	if h.Options.StateDir == "" {
		return errors.New("there is no directory for state: set HOME or XDG_STATE_HOME")
	}
	if err := os.MkdirAll(h.Options.StateDir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.spool(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxSpool {
		return fmt.Errorf("%s is full", h.spool())
	}
	_, err = f.Write(append(marshal(h.bypassed(in, cause)), '\n')) // a single write, since other processes append too
	return err
}

// bypassed returns the record of an event that passes without a verdict.
func (h *Hook) bypassed(in input, cause error) bypass {
	b := bypass{Agent: h.Dialect.Name, Event: in.event.Name, Time: events.Now(), Cause: shorten.Bytes(cause.Error(), maxReason, "…")}
	session, _ := in.members.GetString("session_id")
	tool, _ := in.members.GetString("tool_name")
	b.Session, b.Tool = shorten.Bytes(session, maxSession, "…"), shorten.Bytes(tool, maxTool, "…")
	return b
}

// unseen reports an event that passes because hooks can't read it. emit sends the report to the
// router.
func (h *Hook) unseen(in input, cause error, emit func(data any) error) {
	b := h.bypassed(in, cause)
	data := map[string]any{"count": 1, "events": []bypass{b}}
	if b.Session != "" {
		data["session_id"] = b.Session
	}
	if err := emit(data); err != nil {
		h.note(own(chain.LevelWarning, "a %s passed without a verdict, and the router could not be told: %v", in.event.Native, err))
	}
}

// report reports stored events to the router. It renames the file before it reads it, so that each
// event is reported once.
func (h *Hook) report(ctx context.Context, a *agent.Agent, err error) {
	if h.Options.StateDir == "" || err != nil {
		return
	}
	mine := fmt.Sprintf("%s.%d", h.spool(), os.Getpid())
	if os.Rename(h.spool(), mine) != nil { // usually there is no file
		return
	}
	list, err := readSpool(mine)
	if err == nil {
		_, err = a.Emit(ctx, UncheckedEvent, map[string]any{"count": len(list), "events": list})
	}
	if hookrouter.CodeOf(err) == hookrouter.CodeTooLarge {
		_, err = a.Emit(ctx, UncheckedEvent, map[string]any{"count": len(list)})
	}
	if code := hookrouter.CodeOf(err); err != nil && (code == 0 || code == hookrouter.CodeOverloaded || code >= hookrouter.CodeInternal) {
		h.note(own(chain.LevelWarning, "%d events passed without a verdict, and the router could not be told: %v", len(list), err))
		putBack(mine, h.spool())
	}
	_ = os.Remove(mine)
}

// putBack appends the events that could not be reported to the spool again.
func putBack(mine, spool string) {
	lines, err := os.ReadFile(mine)
	if err != nil {
		return
	}
	f, err := os.OpenFile(spool, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(lines) // each was shown to the user
}

func readSpool(path string) (list []json.RawMessage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 2*maxSpool))
	lines.Buffer(nil, 2*maxSpool+1) // so that a long line does not hide the others from the router
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); json.Valid(line) { // a full disk may cut a line
			list = append(list, bytes.Clone(line))
		}
	}
	return list, lines.Err()
}

// noteUnknown notes once that an agent has an event that this version does not know.
func (h *Hook) noteUnknown(e Event) {
	seen := filepath.Join(h.Options.StateDir, "unknown-"+filepath.Base(customName(h.Dialect.Name, e.Native)))
	if h.Options.StateDir != "" && os.MkdirAll(h.Options.StateDir, 0o700) == nil {
		f, err := os.OpenFile(seen, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			return
		}
		if err == nil {
			_ = f.Close()
		}
	}
	h.note(own(chain.LevelWarning, "this version knows no event %s of %s: it is announced as %s, and only a denial stops it", shorten.Bytes(e.Native, maxName, "…"), h.Dialect.Agent, e.Name))
}
