package verdict

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits bound what hooks inject into an agent's context. Fields that are 0 mean those of
// [DefaultLimits].
type Limits struct {
	Size   int // of one injection, in UTF-8 bytes
	Budget int // of all injections of a turn, in tokens: code points / 4
}

// DefaultLimits are the limits of the protocol. Do not change them.
var DefaultLimits = Limits{Size: 10_240, Budget: 10_000}

// Lowered returns l with each limit lowered to that of by. Fields of by that are 0 or negative are
// ignored.
func (l Limits) Lowered(by Limits) Limits {
	l = l.withDefaults()
	if by.Size > 0 {
		l.Size = min(l.Size, by.Size)
	}
	if by.Budget > 0 {
		l.Budget = min(l.Budget, by.Budget)
	}
	return l
}

func (l Limits) withDefaults() Limits {
	return Limits{Size: cmp.Or(l.Size, DefaultLimits.Size), Budget: cmp.Or(l.Budget, DefaultLimits.Budget)}
}

// Injects reports whether an outcome has injections to deliver. Only then does [Compose] need the
// tokens that the turn has used.
func Injects(out chain.Outcome) bool { return out.Result.Action == chain.InjectContext }

// Compose returns the verdict on an event, without the approval: if a hook asks a person, the
// action is [Pending] and the caller makes the approval request. used is the number of tokens that
// earlier events of the turn used; now is the timestamp of messages.
func Compose(out chain.Outcome, ev events.Event, limits Limits, used int, now time.Time) Verdict {
	v := Verdict{Action: Continue, Data: out.Result.Data, InjectedTokens: used}
	switch out.Result.Action {
	case chain.Deny:
		v.Action, v.Reason = Deny, out.Result.Reason
		v.BlankReason = v.Reason == "" && out.Result.Blank&chain.BlankReason != 0
		v.discard(out.Calls, "the event was denied")
	case chain.AskUser:
		v.Action = Pending
		v.discard(out.Calls, "a person is asked about the event")
	case chain.InjectContext:
		v.inject(out.Calls, ev, limits.withDefaults(), now)
	}
	for _, call := range out.Calls { // failed calls have the zero Result
		if call.Result.UserMessage != "" {
			v.Display = append(v.Display, Display{
				Message: call.Result.UserMessage,
				Level:   cmp.Or(call.Result.UserMessageLevel, chain.LevelInfo),
				Source:  "hook:" + call.Entry.Title(),
				HookID:  call.Entry.ID,

				UserMessageSource: call.Result.UserMessageSource,
			})
		}
		if call.Result.SuppressOutput {
			v.SuppressOutput = append(v.SuppressOutput, call.Entry.Title())
		}
	}
	return v
}

// injection is the cleaned text of one hook.
type injection struct {
	chain.Call
	text string
}

// inject delivers the injections of calls within the limits: merged into one message, and one by
// one.
func (v *Verdict) inject(calls []chain.Call, ev events.Event, limits Limits, now time.Time) {
	var kept []injection
	for _, call := range calls {
		if call.Result.Action != chain.InjectContext {
			continue
		}
		if text, ok := v.admit(call, limits); ok {
			kept = append(kept, injection{call, text})
			v.ContextInjections = append(v.ContextInjections, chain.NewContextInjection(call, ev.Name, text))
		}
	}
	if len(kept) > 0 {
		v.Messages = []Message{message(kept, ev, now)}
	}
}

// admit cleans the injection of a call, checks it against the limits and takes its tokens from the
// budget. It adds a warning for everything that it drops or removes.
func (v *Verdict) admit(call chain.Call, limits Limits) (text string, ok bool) {
	text, removed := Clean(call.Result.ContextInjection)
	if removed > 0 {
		v.warn(Sanitized, call, "%d control or invisible characters were removed", removed)
	}
	tokens := utf8.RuneCountInString(text) / 4
	left := limits.Budget - v.InjectedTokens
	one := Injected{HookID: call.Entry.ID, Hook: call.Entry.Title(), Bytes: len(text), Tokens: tokens, Cleaned: removed}
	switch {
	case text == "":
		return "", false
	case len(text) > limits.Size:
		v.warn(Oversize, call, "the injection has %d bytes: at most %d are allowed", len(text), limits.Size)
		v.drop(one, Oversize)
		return "", false
	case tokens > left:
		v.warn(Budget, call, "the injection costs %d tokens: %d of %d are left in this turn", tokens, max(left, 0), limits.Budget)
		v.drop(one, Budget)
		return "", false
	}
	v.InjectedTokens += tokens
	v.Injected = append(v.Injected, one)
	return text, true
}

// discard adds warnings for injections that a denial or an approval request overrides.
func (v *Verdict) discard(calls []chain.Call, why string) {
	for _, call := range calls {
		if call.Result.Action == chain.InjectContext && call.Result.ContextInjection != "" {
			v.warn(Overridden, call, "the injection was dropped: %s", why)
		}
	}
}

func (v *Verdict) drop(one Injected, why string) {
	one.Dropped = why
	v.Dropped = append(v.Dropped, one)
}

func (v *Verdict) warn(kind string, call chain.Call, format string, args ...any) {
	v.Warnings = append(v.Warnings, Warning{Kind: kind, Hook: call.Entry.Title(), Detail: fmt.Sprintf(format, args...)})
}

// message merges injections into one message with the settings of the first.
func message(kept []injection, ev events.Event, now time.Time) Message {
	first := kept[0]
	m := Message{
		Role:      cmp.Or(first.Result.ContextInjectionRole, chain.RoleSystem),
		Content:   first.text,
		Ephemeral: first.Result.Ephemeral,
		Metadata: Metadata{
			Source:    "hook",
			HookName:  first.Entry.Title(),
			HookID:    first.Entry.ID,
			Event:     ev.Name,
			Timestamp: events.Stamp(now),
		},
	}
	for _, one := range kept {
		if m.Ephemeral && one.Result.AppendToLastToolResult {
			m.AppendToLastToolResult = true
		}
	}
	if len(kept) > 1 {
		m.Content = feedback(kept)
		m.Metadata.HookName, m.Metadata.HookID = "composite", ""
	}
	return m
}

// feedback joins the texts of several injections, each below its hook's name.
func feedback(kept []injection) string {
	var b strings.Builder
	b.WriteString("Hook feedback:")
	for _, one := range kept {
		name, _ := Clean(one.Entry.Title()) // the name becomes part of the text
		fmt.Fprintf(&b, "\n\nFrom %s (%d bytes):\n%s", name, len(one.text), one.text)
	}
	return b.String()
}
