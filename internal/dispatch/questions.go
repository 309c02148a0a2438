package dispatch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// merged combines the questions of several pinned guards into one call. The second result is
// false if the guards judge different data. One answer counts for all of them: an option is
// offered only if each guard offers it, and the default allows only if each guard's does.
func merged(asking []chain.Call) (chain.Call, bool) {
	first := asking[0]
	r := first.Result
	ids, titles := make([]string, len(asking)), make([]string, len(asking))
	prompts, reasons := make([]string, len(asking)), []string(nil)
	r.ApprovalOptions = offered(first.Result)
	for i, call := range asking {
		if string(call.Result.Data) != string(r.Data) {
			return chain.Call{}, false
		}
		ids[i], titles[i] = call.Entry.ID, call.Entry.Title()
		prompts[i] = fmt.Sprintf("%d. %s: %s", i+1, call.Entry.Title(), promptOf(call))
		if call.Result.Reason != "" {
			reasons = append(reasons, call.Result.Reason)
		}
		others := offered(call.Result)
		r.ApprovalOptions = slices.DeleteFunc(r.ApprovalOptions, func(option string) bool {
			return !slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(option, other) })
		})
		if call.Result.ApprovalDefault != chain.Allow {
			r.ApprovalDefault = chain.Deny
		}
		if approval.Timeout(call.Result.ApprovalTimeout) < approval.Timeout(r.ApprovalTimeout) {
			r.ApprovalTimeout = call.Result.ApprovalTimeout
		}
	}
	r.ApprovalOptions = answerable(r.ApprovalOptions)
	r.Unlabel = nil // one guard may not let a person remove what another added
	r.ApprovalPrompt, r.Reason = strings.Join(prompts, "\n"), strings.Join(reasons, "; ")
	entry := *first.Entry
	entry.ID, entry.Name = strings.Join(ids, "+"), strings.Join(titles, " and ")
	return chain.Call{Entry: &entry, Result: r}, true
}

// questions returns the parts of a merged question, for rules; nil if the question is not merged.
func (ev *event) questions() (list []approval.Question) {
	for _, call := range ev.asking {
		list = append(list, approval.Question{Hook: call.Entry.Title(), Prompt: promptOf(call)})
	}
	return list
}

func promptOf(asker chain.Call) string {
	return cmp.Or(asker.Result.ApprovalPrompt, approval.DefaultPrompt)
}

// answerable returns the options, or the default ones if a person could not both allow and deny.
func answerable(options []string) []string {
	denies := func(option string) bool { return !approval.Grants(option) }
	if slices.ContainsFunc(options, approval.Grants) && slices.ContainsFunc(options, denies) {
		return options
	}
	return approval.DefaultOptions()
}

// offered returns a copy of the options that a hook offers a person.
func offered(r chain.Result) []string {
	if len(r.ApprovalOptions) == 0 {
		return approval.DefaultOptions()
	}
	return slices.Clone(r.ApprovalOptions)
}
