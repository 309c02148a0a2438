package claudescript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// CodeBlock is the exit code that blocks, with the reason on standard error. Any other code except
// 0 means that the script failed.
const CodeBlock = 2

// Blocked returns the result for exit code [CodeBlock]. Standard output is ignored.
func (c Call) Blocked(stderr []byte) chain.Result {
	reason := text(string(stderr))
	if traitsOf[c.Name].jsonOnly {
		return noted(reason)
	}
	return c.blocked(reason)
}

func (c Call) blocked(reason string) chain.Result {
	switch effect := traitsOf[c.Name].block; {
	case effect == denies:
		return chain.Denial(reason)
	case effect == tells && reason != "":
		return chain.Injection(reason)
	}
	return noted(reason)
}

func noted(message string) chain.Result {
	if message == "" {
		return chain.Result{}
	}
	return chain.Result{UserMessage: message, UserMessageLevel: chain.LevelWarning}
}

// Result returns the result for exit code 0 and a standard output. Output that is not JSON is
// context for the model if Claude Code treats it so for the hook event, and is otherwise ignored.
func (c Call) Result(stdout []byte) (chain.Result, error) {
	if !isJSON(stdout) {
		if said := text(string(stdout)); said != "" && traitsOf[c.Name].plain {
			return chain.Injection(said), nil
		}
		return chain.Result{}, nil
	}
	out, err := parseOutput(c.Name, stdout)
	if err != nil {
		return chain.Result{}, err
	}
	result, err := c.decide(out)
	if err != nil {
		return chain.Result{}, err
	}
	if message := joined(result.UserMessage, out.SystemMessage); message != "" {
		result.UserMessage, result.UserMessageLevel = message, chain.LevelWarning
	}
	result.SuppressOutput = out.SuppressOutput
	return result, nil
}

// decide returns the result of an output, without the parts that are only for the user.
func (c Call) decide(out output) (chain.Result, error) {
	if out.Continue != nil && !*out.Continue {
		return c.stopped(text(out.StopReason)), nil
	}
	verdict, reason, err := c.verdict(out)
	if err != nil {
		return chain.Result{}, err
	}
	data, err := c.changed(out)
	if err != nil {
		return chain.Result{}, err
	}
	switch {
	case verdict == chain.Deny:
		result := c.blocked(joined(reason, out.Specific.AdditionalContext))
		if result.Action == chain.InjectContext && data != nil {
			return chain.Result{Action: chain.Modify, Data: data, Reason: result.ContextInjection}, nil
		}
		return result, nil
	case verdict == chain.AskUser && data != nil:
		return chain.Denial(joined("The hook wants a person to be asked about an input that it changes at once, which can't be done.", reason)), nil
	case verdict == chain.AskUser:
		return chain.Question(cmp.Or(text(reason), c.question())), nil
	case data != nil:
		return chain.Result{Action: chain.Modify, Data: data, Reason: joined(reason, out.Specific.AdditionalContext)}, nil
	}
	if context := text(out.Specific.AdditionalContext); context != "" {
		return chain.Injection(context), nil
	}
	return chain.Result{}, nil
}

// stopped returns the result of "continue": false, which makes the agent stop.
func (c Call) stopped(reason string) chain.Result {
	result := noted(reason)
	if c.Name != stop && c.Name != subagentStop && c.Name != sessionEnd {
		result.Action, result.Reason = chain.Deny, reason
	}
	return result
}

// verdict returns the decision of an output and its reason: Deny, AskUser or Continue.
func (c Call) verdict(out output) (chain.Action, string, error) {
	said, reason := out.Decision, out.Reason
	switch {
	case c.Name == preToolUse && out.Specific.PermissionDecision != "":
		said, reason = out.Specific.PermissionDecision, out.Specific.PermissionDecisionReason
	case c.Name == permissionRequest:
		said, reason = out.Specific.Decision.Behavior, out.Specific.Decision.Message
	}
	switch said {
	case "", "allow", "approve":
		return chain.Continue, reason, nil
	case "deny", "block":
		return chain.Deny, reason, nil
	case "ask", "defer":
		if c.Name == preToolUse {
			return chain.AskUser, reason, nil
		}
	}
	return "", "", fmt.Errorf("the decision %q is not one that a hook for %s may make", clip(said), c.Name)
}

// changed returns the event's data with the tool's input or output replaced, or nil if the output
// replaces neither.
func (c Call) changed(out output) (json.RawMessage, error) {
	var member string
	var value jsontext.Value
	switch c.Name {
	case preToolUse:
		member, value = c.input, out.Specific.UpdatedInput
	case permissionRequest:
		member, value = c.input, out.Specific.Decision.UpdatedInput
	case postToolUse:
		member, value = c.output, out.Specific.UpdatedToolOutput
		if len(value) == 0 || value.Kind() == 'n' {
			value = out.Specific.UpdatedMCPToolOutput
		}
	}
	if len(value) == 0 || value.Kind() == 'n' {
		return nil, nil
	}
	if c.Name != postToolUse && value.Kind() != '{' {
		return nil, errors.New("updatedInput must be an object: the whole new input of the tool")
	}
	if member == "" {
		return nil, errors.New("updatedInput can't be put in place: the tool's input is no member of the event's data")
	}
	return c.data.With(member, value), nil
}

// question returns the question for a script that gives no reason. It names the command.
func (c Call) question() string {
	tool, _ := c.data.Tool(c.event.Name)
	name, about := cmp.Or(tool.Name, "this tool"), strings.ReplaceAll(strings.TrimSpace(tool.Subject()), "\n", " ⏎ ")
	if about == "" {
		return "Allow " + name + "?"
	}
	return "Allow " + name + ": " + shorten.Runes(about, maxAbout, "…") + "?"
}

// maxAbout is how many characters of a command a question includes; the data has all of it.
const maxAbout = 200
