package bashvalidator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Registration is how the guard asks to be called: before others, for the tools
// that run shell commands.
func Registration() chain.Registration {
	return chain.Registration{
		ID:         "bash-validator",
		Events:     []string{events.ToolPre},
		Priority:   1,
		OnFailure:  chain.FailClosed,
		Match:      "has(data.tool_name) && data.tool_name in ['Bash', 'bash', 'Shell', 'shell', 'exec_command', 'run_shell_command']",
		ReplaySafe: true,
	}
}

// Hook returns the guard. It is safe for concurrent use.
func Hook() chain.Hook {
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		var d events.ToolPreData
		if err := ev.Decode(&d); err != nil {
			return chain.Result{}, err
		}
		var input struct {
			Command json.RawMessage `json:"command"`
			Cmd     json.RawMessage `json:"cmd"`
		}
		if err := d.DecodeInput(&input); err != nil {
			return chain.Result{}, err
		}
		judged := false
		for _, raw := range []json.RawMessage{input.Command, input.Cmd} {
			if raw == nil {
				continue
			}
			judged = true
			found, err := judge(raw)
			if err != nil {
				return chain.Result{}, err
			}
			if found != "" {
				return chain.Denial("Dangerous command blocked: " + found), nil
			}
		}
		if !judged {
			return chain.Result{}, errors.New("tool_input has no command to judge")
		}
		return chain.Result{}, nil
	}
}

// judge returns the part of a tool's command that is dangerous, or "". The
// command is a script, or a list of words.
func judge(raw json.RawMessage) (string, error) {
	var script string
	if json.Unmarshal(raw, &script) == nil && raw[0] == '"' {
		found, err := (&shell{}).script(script, 0)
		return shorten(found), err
	}
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil || raw[0] != '[' {
		return "", fmt.Errorf("tool_input: a command is text or a list of words, not %.40s", raw)
	}
	found, err := (&shell{}).run(&command{words: words}, 0)
	return shorten(found), err
}

func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		return strings.ToValidUTF8(text[:200], "") + "..."
	}
	return text
}
