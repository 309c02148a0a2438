package chain

import (
	"encoding/json"
	"fmt"
	"strings"
)

// deny returns the outcome with an entry's denial as its result.
func (out Outcome) deny(entry *Entry, r Result) Outcome {
	out.Result, out.DeniedBy = r.unlabeled(), entry.ID
	return out
}

// failureDenial returns the denial of a hook that failed closed. It does not include the cause,
// which is for the operator only.
func failureDenial(call Call) Result {
	return Denial(fmt.Sprintf("hook %s failed (%s) and its on_failure is deny", `"`+call.Entry.Title()+`"`, call.Failure))
}

// sum returns the result of a chain without a denial.
func (out Outcome) sum(event string) Result {
	var injections []Call
	for _, call := range out.Calls {
		switch call.Result.Action {
		case AskUser:
			r := call.Result.unlabeled()
			if r.Data == nil {
				r.Data = out.Data
			}
			return r
		case InjectContext:
			if call.Result.ContextInjection != "" {
				injections = append(injections, call)
			}
		}
	}
	switch len(injections) {
	case 0:
		return Result{Action: Continue, Data: out.Data}
	case 1:
		r := injections[0].Result.unlabeled()
		if r.Data == nil {
			r.Data = out.Data
		}
		return r.listing(injections, event)
	default:
		return join(injections, out.Data).listing(injections, event)
	}
}

// join merges injections: their texts joined by blank lines, the settings of the first, and
// append_to_last_tool_result if any has it.
func join(injections []Call, data json.RawMessage) Result {
	first := injections[0].Result
	r := Result{
		Action:               InjectContext,
		Data:                 data,
		ContextInjectionRole: first.ContextInjectionRole,
		Ephemeral:            first.Ephemeral,
		SuppressOutput:       first.SuppressOutput,
	}
	texts := make([]string, len(injections))
	for i, part := range injections {
		texts[i] = part.Result.ContextInjection
		r.AppendToLastToolResult = r.AppendToLastToolResult || part.Result.AppendToLastToolResult
	}
	r.ContextInjection = strings.Join(texts, "\n\n")
	return r
}

// listing adds the list of injections to the result, unless that would be too large.
func (r Result) listing(injections []Call, event string) Result {
	if len(r.ContextInjection) > maxListed {
		return r
	}
	for _, call := range injections {
		r.ContextInjections = append(r.ContextInjections, NewContextInjection(call, event, call.Result.ContextInjection))
	}
	return r
}
