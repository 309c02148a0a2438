package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// kinds are the kinds of records, as listed in docs/audit.md.
var kinds = []string{
	string(audit.HookResult), string(audit.HookError), string(audit.HookTimeout), string(audit.HookSkipped),
	string(audit.ChainResult), string(audit.ChainRefused), string(audit.InjectionKind), string(audit.DisplayKind),
	string(audit.ApprovalRequested), string(audit.ApprovalDecided), string(audit.ApprovalRevoked), string(audit.ApprovalRevealed), string(audit.ApprovalReviewed),
	string(audit.ApprovalReplayed), string(audit.RegistrationKind), string(audit.FreezeKind), string(audit.LabelsKind), string(audit.PolicyKind),
	string(audit.IdentityKind), string(audit.LogKind),
}

// actions are the actions of records of all kinds.
var actions = []string{
	"continue", "deny", "modify", "inject_context", "ask_user", "collect", "in_vain", "allow", "unavailable",
	"frozen", "outdated", "revoked", "revealed", "thawed", "ended", "registered", "changed", "instance", "instance_removed",
	"unregistered", "lost", "accepted", "pinned", "unpinned", "disabled", "enabled", "restored", "drifted", "alarm", "skipped",
	"delivered", "dropped", "shown", "suppressed", "requested", "joined", "served", "refused", "pending",
	"deadline", "expired", "removed", "kept", "pass", "pushed", "rolled_back",
	"loaded", "added", "rotated",
}

// checkAction rejects an action that no record can have.
func checkAction(action string) error {
	if action == "" || slices.Contains(actions, action) {
		return nil
	}
	return unknown("--action", action, actions)
}

// checkKind rejects a kind that no record can have, and a pattern that matches none.
func checkKind(want string) error {
	begin, several := strings.CutSuffix(want, "*")
	if slices.ContainsFunc(kinds, func(k string) bool { return k == want || several && strings.HasPrefix(k, begin) }) {
		return nil
	}
	return unknown("--kind", want, kinds)
}

// unknown returns the error for a value that a flag does not accept.
func unknown(flag, word string, known []string) error {
	begin := fmt.Sprintf("%s %q: no record has that %s", flag, term.Clip(word, term.MaxValue), strings.TrimPrefix(flag, "--"))
	if best := meant(word, known); best != "" {
		return fmt.Errorf("%s: did you mean %q?", begin, best)
	}
	return fmt.Errorf("%s; there are %s", begin, strings.Join(known, ", "))
}

// meant returns the known word that another word is a form of or resembles, such as deny for
// denied, or "" if there is none.
func meant(word string, known []string) string {
	for _, k := range known {
		if stem := k[:len(k)-1]; len(stem) > 2 && strings.HasPrefix(word, stem) {
			return k
		}
	}
	return kind.ClosestWithin(1+len(word)/4, word, known)
}

// recentRecords is how many of the newest records are searched for hook ids.
const recentRecords = 20_000

// nothing explains an empty result, and suggests a hook with a similar id.
func nothing(ctx context.Context, l *query.Log, f query.Filter) string {
	if f.Hook == "" {
		return "nothing found"
	}
	seen, left := map[string]bool{}, recentRecords
	var hooks []string
	err := l.QueryNewest(ctx, query.Filter{}, func(r query.Record) error {
		if r.Hook != "" && !seen[r.Hook] {
			seen[r.Hook] = true
			hooks = append(hooks, r.Hook)
		}
		if left--; left == 0 {
			return query.ErrEnough
		}
		return nil
	})
	switch best := kind.Closest(f.Hook, hooks); {
	case err != nil && !errors.Is(err, query.ErrEnough), seen[f.Hook], len(hooks) == 0:
		return "nothing found"
	case best != "":
		return fmt.Sprintf("nothing found: the log has no hook %q lately: did you mean %q?", term.Clip(f.Hook, term.MaxValue), best)
	default:
		slices.Sort(hooks)
		return fmt.Sprintf("nothing found: the log has no hook %q lately; it has %s", term.Clip(f.Hook, term.MaxValue), term.Clip(strings.Join(hooks, ", "), 4*term.MaxValue))
	}
}
