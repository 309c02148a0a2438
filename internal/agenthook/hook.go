package agenthook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Options say how a hook asks the router. The zero Options ask the router at the default
// address, and block if it can't be reached.
type Options struct {
	Server string // NATS servers, comma-separated; empty means nats://127.0.0.1:4222
	Creds  string // NATS credentials file; empty for none
	// Home is a directory in which to look for credentials before the variables count; empty
	// for none. It matters only if Creds is empty.
	Home   string
	Prefix string // first token of the router's subjects; empty means hooks
	// Timeout is how long the agent waits for an answer, in total; 0 means nine tenths of
	// what the agent allows a hook by default.
	Timeout time.Duration
	// Patience is how long to retry an unreachable router; 0 means two seconds.
	Patience time.Duration
	// Allow lets gated events pass if the router can't be reached.
	Allow bool
	// StateDir is where uses of Allow are kept until they are reported; empty for nowhere.
	StateDir string
	// EventID is the id under which another process sent the event already; empty if none did.
	EventID string
	// Spent is how much of the time that the agent waits is over.
	Spent time.Duration
	// Getenv finds the sessions of agents that this process runs below: os.Getenv, or nil
	// for none.
	Getenv func(string) string
}

// CodeBlock is the exit code that blocks in all dialects; the reason is on standard error.
const CodeBlock = 2

// Output is what the agent gets of its hook. The zero Output lets it go on.
type Output struct {
	Stdout []byte
	Stderr string // the reason, where Code is not 0
	Code   int
}

// Hook answers one call of an agent's hook. It is used once.
type Hook struct {
	Dialect Dialect
	Native  string // the event as the command line names it; empty: the document does
	Options Options
	Router  Router    // nil: one over NATS, as Options say
	Notes   io.Writer // standard error, for notes beside the answer
}

// timeout is how long the agent still waits for the answer to an event.
func (h *Hook) timeout(e Event) time.Duration {
	return max(cmp.Or(max(h.Options.Timeout, 0), h.Dialect.Waits(e))-h.Options.Spent, time.Millisecond)
}

// Waits is how long hook-agent waits for the answer to an event: a little less than the
// agent waits for it.
func (d Dialect) Waits(e Event) time.Duration {
	return cmp.Or(e.Timeout, d.Timeout) * 9 / 10
}

// Answer answers an agent's document. It returns in time whatever happens to ctx, the
// router and the network.
func (h *Hook) Answer(ctx context.Context, document []byte) Output {
	in, err := readInput(h.Dialect, h.Native, document)
	if err != nil {
		h.unread(ctx, document, err)
		return h.Refuse(document, err)
	}
	if in.skip {
		return Output{}
	}
	if !in.known {
		h.noteUnknown(in.event)
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout(in.event))
	defer cancel()
	v, err := h.ask(ctx, in)
	if err != nil {
		return h.write(in.event, document, h.failed(in, err))
	}
	return h.write(in.event, document, h.obey(in, v))
}

// Decide answers an agent's document if the router of this process decides at once. accepted is
// called first, with how long that takes at the most. The error says that there is no verdict: the
// agent's own hook-agent knows what to do then.
func (h *Hook) Decide(ctx context.Context, document []byte, accepted func(time.Duration)) (Output, error) {
	in, err := readInput(h.Dialect, h.Native, document)
	switch {
	case err != nil:
		return Output{}, err
	case in.skip:
		return Output{}, nil
	case !in.known:
		return Output{}, errUnknown
	}
	timeout := h.timeout(in.event)
	accepted(timeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	v, err := h.askHere(ctx, in)
	if err != nil {
		return Output{}, err
	}
	return h.write(in.event, document, h.obey(in, v)), nil
}

var errUnknown = errors.New("this version does not know the event")

// Refuse is the answer if there is no verdict, but not because of the router: the document
// can't be read, or the second process does not answer. For an unknown event it blocks in the way
// that all agents understand.
func (h *Hook) Refuse(document []byte, cause error) Output {
	in, _ := readInput(h.Dialect, h.Native, document)
	reason := blocked(cause)
	switch {
	case in.event.Native == "":
		return Output{Stderr: reason, Code: CodeBlock}
	case !in.known:
		h.note(verdict.Display{Level: chain.LevelWarning, Source: "hook-agent", Message: reason})
		return Output{}
	}
	return h.write(in.event, document, withoutVerdict(in.event, cause))
}

// withoutVerdict blocks a gated event; for others it notes that no router was asked.
func withoutVerdict(e Event, cause error) answer {
	if e.Gated() {
		return answer{deny: true, reason: blocked(cause)}
	}
	return answer{message: shown(own(chain.LevelWarning, "no hook has seen this %s: %v", e.Native, cause))}
}

func blocked(cause error) string {
	return fmt.Sprintf("Blocked, since no policy could be asked: %v. Do not work around this: tell your user.", cause)
}

// Body is an output as the body of an answer over HTTP, which has no exit code: what the body
// does not say does not count.
func (h *Hook) Body(out Output) []byte {
	if out.Code != 0 {
		out = h.print(h.Dialect.blockAny(out.Stderr))
	}
	if len(out.Stdout) == 0 {
		return []byte("{}\n")
	}
	return out.Stdout
}

// obey is what to tell the agent about a verdict. What it would ignore becomes a denial, if
// that stops something, and a note.
func (h *Hook) obey(in input, v verdict.Verdict) answer {
	e := in.event
	a := answer{deny: v.Action != verdict.Continue, reason: v.Reason, context: injected(v), message: shown(append(v.Display, decided(v)...)...)}
	if !a.deny {
		var lost string
		a.changed, lost = change(e, in, v)
		if a.deny = lost != "" && e.Deny != KeepsOn; a.deny {
			a.changed, a.reason = nil, paragraphs(v.Reason, lost)
		}
	}
	if a.deny {
		a.reason = paragraphs(a.reason, a.context)
		a.context = ""
		if a.reason == "" {
			a.reason = "Denied by a hook, which gave no reason."
		}
	}
	if a.deny && e.Deny == "" {
		h.note(own(chain.LevelWarning, "%s can't be stopped at %s: %s", h.Dialect.Agent, e.Native, a.reason))
		a.deny, a.reason = false, ""
	}
	if a.context != "" && !e.Inject {
		h.note(own(chain.LevelWarning, "%s takes no context at %s; lost: %s", h.Dialect.Agent, e.Native, a.context))
		a.context = ""
	}
	return a
}

// write returns an answer to a document in the agent's form. What is for the user goes to standard
// error if the agent shows nothing.
func (h *Hook) write(e Event, document []byte, a answer) Output {
	if a.deny && e.withhold != nil {
		a.changed = e.withhold(document)
	}
	if !e.Message && a.message != "" {
		fmt.Fprintln(h.Notes, a.message)
		a.message = ""
	}
	if a.empty() || h.Dialect.write == nil {
		return Output{}
	}
	said := h.Dialect.write(e, a)
	if said == nil {
		return Output{}
	}
	return h.print(said)
}

func (h *Hook) print(said any) Output {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(said); err != nil { // a changed value that is not JSON
		return Output{Stderr: blocked(err), Code: CodeBlock}
	}
	return Output{Stdout: b.Bytes()}
}

func (h *Hook) note(d verdict.Display) {
	fmt.Fprintln(h.Notes, shown(d))
}
