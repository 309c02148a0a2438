package exechook

import (
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ClaudeCode is the dialect of the command hooks of Claude Code; see package
// claudescript.
const ClaudeCode = "claude-code"

// dialect returns the exchange about an event, or nil if the command does not run for the event.
type dialect func(ev events.Event) (exchange, error)

// exchange is the communication with a command about one event.
type exchange interface {
	// input returns the standard input of the command.
	input() []byte
	// answered returns the result for exit code 0 and an output.
	answered(stdout []byte) (chain.Result, error)
	// exited returns the result for another exit code; ok is false if the command failed. stderr is
	// the beginning of its standard error.
	exited(code int, stderr []byte) (result chain.Result, ok bool)
}

// plain is the native dialect: the command reads the event and writes a HookResult.
type plain struct{ events.Event }

func plainDialect(ev events.Event) (exchange, error) { return plain{ev}, nil }

func (p plain) input() []byte                                   { return document(p.Event, nil) }
func (plain) answered(stdout []byte) (chain.Result, error)      { return kind.ParseAnswer(stdout) }
func (plain) exited(int, []byte) (result chain.Result, ok bool) { return chain.Result{}, false }

type claude struct{ claudescript.Call }

// claudeDialect returns the dialect claude-code for the calls that a matcher selects.
func claudeDialect(matcher claudescript.Matcher, dir string) dialect {
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

// document returns the input of the command in the plain dialect. more writes further members; nil
// means none.
func document(ev events.Event, more func(*events.ObjectWriter)) []byte {
	w := kind.Document(ev)
	if more != nil {
		more(&w)
	}
	data := []byte(ev.Data)
	if len(data) == 0 {
		data = []byte("{}")
	}
	w.Raw("data", data)
	return append(w.End(), '\n')
}
