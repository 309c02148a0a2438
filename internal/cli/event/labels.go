package event

import (
	"context"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// labels returns the labels that hooks gave in a chain, read from the audit log: an answer has
// none, since agents must not learn them. It returns "" for JSON output, if the user gave
// credentials, and if the log can't be read.
func labels(ctx context.Context, e *cli.Env, chain string) string {
	if e.Out.JSON || chain == "" || e.Identified() {
		return ""
	}
	ctx, aside, done := e.Aside(ctx, "keeper")
	defer done()
	log, _, err := aside.AuditLog(ctx)
	if err != nil {
		return ""
	}
	c, err := log.Chain(ctx, chain)
	if err != nil {
		return ""
	}
	var list []string
	for _, r := range c.Of(audit.HookResult) {
		for _, label := range r.Labels {
			if text := label + " by " + r.Hook; !r.Shadow && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return term.Printable(strings.Join(list, ", "))
}
