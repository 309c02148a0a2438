package dispatch

import (
	"cmp"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// facts returns what rules may match an approval request by. seen are the current labels of its
// session.
func (ev *event) facts(s *held.Event, seen []string) approval.Facts {
	f := approval.Facts{
		Hook: s.Hook, Tool: s.ToolName, Prompt: s.Prompt, Questions: s.Questions,
		Labels: seen, Emitter: ev.request.Emitter, Role: events.RoleOf(ev.request.Emitter),
		Root: cmp.Or(ev.request.Event.Extensions[events.AttrRoot], ev.session()), Depth: ev.depth(),
		DenyOnly: s.Needs != nil,
	}
	return f.WithCall(ev.name(), s.Data)
}
