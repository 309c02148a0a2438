package why

import (
	"regexp"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ours are ids that can be typed as they are: routers make them so, and whoever made
// another chooses no command for the person who copies it.
var ours = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// next says what to type next.
func (s *Story) next() {
	add := func(command, id, note string) {
		if ours.MatchString(id) {
			s.Next = append(s.Next, command+id+note)
		}
	}
	for _, a := range s.Approval {
		if a.Decided == "" && s.Verdict == Waiting {
			add("hookctl approvals show ", a.ID, "")
		}
	}
	add("hookctl audit show ", s.ChainID, "")
	if i := slices.IndexFunc(s.Hooks, func(h Hook) bool { return h.Failure != "" && !h.Shadow }); i >= 0 {
		add("hookctl audit query --since 1h --hook ", s.Hooks[i].ID, "")
		if s.Hooks[i].Failure == string(chain.FailedNoResponder) {
			add("hookctl hook rm ", s.Hooks[i].ID, "  # or start its worker")
		}
	} else if s.Verdict == Denied && s.Hook != "" && s.By == "" {
		add("hookctl audit query --since 1d --action deny --hook ", s.Hook, "")
	}
}
