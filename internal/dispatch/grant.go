package dispatch

import (
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// grantContent is the digest of what an "Allow always" covers besides the hook and the prompt: the
// tool and its input, or the key that the hook set instead of the input. It is empty if the sender
// is not proven, or if there is neither a tool nor a key.
func (ev *event) grantContent(asker chain.Call, data events.Object) string {
	if ev.request.Emitter == "" {
		return ""
	}
	asking := ev.asking
	if asking == nil {
		asking = []chain.Call{asker}
	}
	content, hasTool := data.ToolContent(ev.name())
	tool, _ := data.Tool(ev.name())
	var parts []string
	for _, call := range asking {
		switch key := call.Result.ApprovalKey; {
		case key != "":
			parts = append(parts, "key", tool.Name, key)
		case hasTool:
			parts = append(parts, "input", string(content))
		}
	}
	if parts == nil {
		return ""
	}
	w := events.NewObjectWriter(nil)
	w.Texts("parts", parts)
	return approval.Digest(w.End())
}
