package redaction

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says what is masked beside card numbers and keys.
type Options struct {
	// Emails masks e-mail addresses too, the recipient's included.
	Emails bool
}

// Registration is how the guard asks to be called: before a person is asked, so
// that they see what will really be sent.
func Registration() chain.Registration {
	return chain.Registration{
		ID:        "redaction",
		Events:    []string{events.ToolPre},
		Priority:  3,
		OnFailure: chain.FailClosed,
		Match: "has(data.tool_name) && (data.tool_name in ['SendEmail', 'WebFetch', 'WebSearch']" +
			" || data.tool_name.startsWith('mcp__'))",
		ReplaySafe: true,
	}
}

// Hook returns the guard. It is safe for concurrent use.
func Hook(opts Options) chain.Hook {
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		data, err := events.ParseObject(ev.Data)
		if err != nil {
			return chain.Result{}, err
		}
		input, ok := data.Get("tool_input")
		if !ok {
			return chain.Result{}, nil
		}
		redacted, n := redact.Options{Emails: opts.Emails, Nested: true}.Object(input)
		if n == 0 {
			return chain.Result{}, nil
		}
		what := fmt.Sprintf("%d secrets masked in tool_input", n)
		if n == 1 {
			what = "1 secret masked in tool_input"
		}
		return chain.Result{
			Action:           chain.Modify,
			Data:             data.With("tool_input", redacted),
			Reason:           what,
			UserMessage:      what,
			UserMessageLevel: chain.LevelWarning,
		}, nil
	}
}
