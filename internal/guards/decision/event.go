package decision

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// OfEvent evaluates the tool calls of an event, including nested ones, and returns the strictest
// result: a denial, or one approval request for all of them. It denies calls whose combined request
// would be too long. An event that is not about a tool is allowed.
func OfEvent(ev events.Event, judge func(events.Tool) chain.Result) chain.Result {
	var all chain.Result
	for _, tool := range events.ToolsOf(ev.Name, ev.Data) {
		one := judge(tool)
		switch {
		case one.Action == chain.Deny:
			return one
		case one.Action != chain.AskUser:
		case all.Action == "":
			all = one
		default:
			if all = both(all, one); len(all.ApprovalPrompt) > approval.MaxPrompt {
				return chain.Denial("This call holds more calls to ask about than a person can be shown: make them one by one")
			}
		}
	}
	return all
}

// both combines two approval requests. If their options differ, the result offers Allow and Deny.
func both(a, b chain.Result) chain.Result {
	a.ApprovalPrompt += "\n\n" + b.ApprovalPrompt
	a.Reason += "; " + b.Reason
	if !slices.Equal(a.ApprovalOptions, b.ApprovalOptions) {
		a.ApprovalOptions = nil
	}
	return a
}

// Handler returns a hook that evaluates the tool calls of an event, see [OfEvent].
func Handler(judge func(events.Event, events.Tool) chain.Result) kind.Hook {
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		return OfEvent(ev, func(tool events.Tool) chain.Result { return judge(ev, tool) }), nil
	}}
}

// Root returns the directory where the agent works, or "" if the event does not contain it. A
// directory in the call itself is ignored.
func Root(ev events.Event) string {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return ""
	}
	cwd, _ := data.GetString("cwd")
	return cwd
}
