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

// Options configure how a hook asks the router. The zero Options use the default address, and block
// if the router is unreachable.
type Options struct {
	Server string // NATS servers, comma-separated; empty means nats://127.0.0.1:4222
	Creds  string // NATS credentials file; empty for none
	// Home is a home directory that is searched for credentials before environment variables are used;
	// empty for none. It is used only if Creds is empty.
	Home   string
	Prefix string // first token of the router's subjects; empty means hooks
	// Timeout is the total time for an answer; 0 means nine tenths of the agent's default timeout for
	// the hook.
	Timeout time.Duration
	// Managed says that the hook is in settings that no program of the agent can change, such as the
	// machine's.
	Managed bool
	// Patience is how long an unreachable router is retried; 0 means two seconds.
	Patience time.Duration
	// Allow lets gated events pass if the router is unreachable.
	Allow bool
	// StateDir is the directory where uses of Allow are stored until they are reported; empty for
	// none.
	StateDir string
	// EventID is the id with which another process already sent the event; empty if none did.
	EventID string
	// Spent is the part of the timeout that has already passed.
	Spent time.Duration
	// Getenv looks up the variables with the sessions of the agents that started this process:
	// os.Getenv, or nil for none.
	Getenv func(string) string
}

// CodeBlock is the exit code that blocks in all dialects; the reason is on standard error.
const CodeBlock = 2

// Output is the output of a hook to the agent. The zero Output lets the agent continue.
type Output struct {
	Stdout []byte
	Stderr string // the reason, if Code is not 0
	Code   int
}

// Hook answers one call of an agent's hook. It must be used only once.
type Hook struct {
	Dialect Dialect
	Native  string // the event on the command line; empty if the document names it
	Options Options
	Router  Router    // nil for the router that Options name, over NATS
	Notes   io.Writer // standard error, for messages that are not part of the answer
}

// timeout returns the time that is left to answer an event.
func (h *Hook) timeout(e Event) time.Duration {
	return max(cmp.Or(max(h.Options.Timeout, 0), h.Dialect.Waits(e))-h.Options.Spent, time.Millisecond)
}

// Waits returns how long hook-agent waits for the answer to an event: slightly less than the
// agent's own timeout.
func (d Dialect) Waits(e Event) time.Duration {
	return cmp.Or(e.Timeout, d.Timeout) * 9 / 10
}

// Answer answers an agent's document. It returns before the agent's timeout, whatever happens to
// ctx, the router and the network.
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

// Decide answers an agent's document with the router of this process. It calls accepted with the
// longest time that the answer takes, before it asks. An error means that there is no verdict; the
// agent's own hook-agent handles that case.
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

// Refuse returns the answer when there is no verdict for a reason other than the router: the
// document can't be read, or the second process does not answer. If the event is not known at all,
// it blocks with the exit code that all agents obey.
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

// withoutVerdict returns the answer to an event without a verdict: a denial if the event is gated,
// otherwise a message to the user.
func withoutVerdict(e Event, cause error) answer {
	if e.Gated() {
		return answer{deny: true, reason: blocked(cause)}
	}
	return answer{message: shown(own(chain.LevelWarning, "no hook has seen this %s: %v", e.Native, cause))}
}

func blocked(cause error) string {
	return fmt.Sprintf("Blocked, since no policy could be asked: %v. Do not work around this: tell your user.", cause)
}

// Body returns an output as the body of an HTTP response. HTTP has no exit code, so a block is
// written into the body.
func (h *Hook) Body(out Output) []byte {
	if out.Code != 0 {
		out = h.print(h.Dialect.blockAny(out.Stderr))
	}
	if len(out.Stdout) == 0 {
		return []byte("{}\n")
	}
	return out.Stdout
}

// write returns an answer to a document in the agent's format. Messages for the user go to standard
// error if the agent does not show them.
func (h *Hook) write(e Event, document []byte, a answer) Output {
	if a.deny && e.withhold != nil {
		replacement, ok := e.withhold(document)
		a.changed, a.stop = replacement, !ok
	}
	if !e.Message && a.message != "" {
		fmt.Fprintln(h.Notes, a.message)
		a.message = ""
	}
	switch {
	case a.deny && e.Deny == "": // an unknown event, which the exit code stops if anything does
		return Output{Stderr: a.reason, Code: CodeBlock}
	case a.empty() || h.Dialect.write == nil:
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
