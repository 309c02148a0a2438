package why

import (
	"regexp"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ours matches ids that are safe to paste into a shell, as those of routers are. Other ids must not
// inject a command.
var ours = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// next adds the commands to run next.
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
	failed := slices.IndexFunc(s.Hooks, func(h Hook) bool { return h.Failure != "" && !h.Shadow })
	unserved := failed >= 0 && s.Hooks[failed].Failure == string(chain.FailedNoResponder)
	if unserved {
		add("# no worker serves ", s.Hooks[failed].ID, ": start it again")
	}
	add("hookctl audit show ", s.ChainID, "")
	if failed >= 0 {
		add("hookctl audit query --since 1h --hook ", s.Hooks[failed].ID, "")
		if unserved {
			add("hookctl hook rm ", s.Hooks[failed].ID, "  # only if nobody is to serve it any more")
		}
	} else if s.Verdict == Denied && s.Hook != "" && s.By == "" {
		add("hookctl audit query --since 1d --action deny --hook ", s.Hook, "")
	}
}
