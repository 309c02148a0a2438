package exechook

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ClaudeCode is the dialect of the command hooks of Claude Code; see package
// claudescript.
const ClaudeCode = "claude-code"

// dialect is how an event is put to a command; nil for one that the command is not
// asked about.
type dialect func(ev events.Event) (exchange, error)

// exchange is one event, put to a command.
type exchange interface {
	// input is what the command reads.
	input() []byte
	// answered is what its output means where it ended well.
	answered(stdout []byte) (chain.Result, error)
	// exited is what an exit code other than 0 means; ok is false where it means that
	// the command has failed. stderr is the beginning of what it complained.
	exited(code int, stderr []byte) (result chain.Result, ok bool)
}

// plain is the dialect of this project: the event in, a HookResult out.
type plain struct{ events.Event }

func speakPlain(ev events.Event) (exchange, error) { return plain{ev}, nil }

func (p plain) input() []byte                                   { return document(p.Event) }
func (plain) answered(stdout []byte) (chain.Result, error)      { return kind.ParseAnswer(stdout) }
func (plain) exited(int, []byte) (result chain.Result, ok bool) { return chain.Result{}, false }

type claude struct{ claudescript.Call }

// speakClaude is the dialect claude-code for hooks that a matcher takes.
func speakClaude(matcher claudescript.Matcher, dir string) dialect {
	return func(ev events.Event) (exchange, error) {
		call, ok, err := claudescript.CallOf(ev, dir)
		if err != nil {
			return nil, fmt.Errorf("read the event: %w", err)
		}
		if !ok || !matcher.Takes(call) {
			return nil, nil
		}
		return claude{call}, nil
	}
}

func (c claude) input() []byte                                { return c.Input() }
func (c claude) answered(stdout []byte) (chain.Result, error) { return c.Result(stdout) }

func (c claude) exited(code int, stderr []byte) (result chain.Result, ok bool) {
	if code != claudescript.CodeBlock {
		return chain.Result{}, false
	}
	return c.Blocked(stderr), true
}

// member is one of a document.
type member struct{ name, value string }

// document is what the command reads in the plain dialect, with further members.
func document(ev events.Event, more ...member) []byte {
	buf := make([]byte, 0, len(ev.Data)+512)
	buf = append(buf, '{')
	for _, m := range [...]member{
		{"event", ev.Name}, {"session_id", ev.Session}, {"event_id", ev.ID}, {"source", ev.Source}, {"time", ev.Time},
	} {
		buf = m.append(buf)
	}
	for _, m := range more {
		if m.value != "" {
			buf = m.append(buf)
		}
	}
	buf = append(buf, `"data":`...)
	if len(ev.Data) == 0 {
		buf = append(buf, "{}"...)
	}
	return append(append(buf, ev.Data...), "}\n"...)
}

func (m member) append(buf []byte) []byte {
	buf = append(append(append(buf, '"'), m.name...), `":`...)
	buf, _ = jsontext.AppendQuote(buf, m.value) // replaces what is no UTF-8
	return append(buf, ',')
}
