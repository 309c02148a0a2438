package policy

import (
	"context"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// searched is how far back the last answer of a hook is searched.
const searched = 30 * 24 * time.Hour

// gone returns the registered hooks that no worker serves, with the version that each ran last. It
// leaves out hooks that follow no policy and, if a policy was requested, hooks whose policy is
// unknown.
func (c *StatusCmd) gone(ctx context.Context, e *cli.Env) (list []ran, err error) {
	aside, admin, done := e.Aside(ctx, "admin")
	defer done()
	a, err := admin.Agent(aside, agent.Options{})
	if err != nil {
		return nil, cli.Reason(aside, err)
	}
	hooks, err := a.Registry(aside)
	if err != nil {
		return nil, cli.Reason(aside, err)
	}
	wanted := map[string]bool{}
	for _, h := range hooks {
		if len(h.Instances) == 0 {
			wanted[h.ID] = true
		}
	}
	answers := lastAnswers(ctx, e, wanted)
	for _, h := range hooks {
		last, known := answers[h.ID]
		name, _, _ := strings.Cut(last.Policy, "@")
		switch {
		case len(h.Instances) > 0, known && name == "", c.Name != "" && c.Name != name:
			continue
		case !known:
			list = append(list, ran{Hook: h.ID})
		default:
			list = append(list, ran{Hook: h.ID, Name: name, Policy: last.Policy, Last: &last.Time})
		}
	}
	return list, nil
}

// lastAnswers returns the last recorded answers of hooks. Some are missing if the log can't be
// read.
func lastAnswers(ctx context.Context, e *cli.Env, hooks map[string]bool) map[string]query.Record {
	found := map[string]query.Record{}
	if len(hooks) == 0 {
		return found
	}
	ctx, keeper, done := e.Aside(ctx, "keeper")
	defer done()
	log, _, err := keeper.AuditLog(ctx)
	if err != nil {
		return found
	}
	filter := query.Filter{Kinds: []audit.Kind{audit.HookResult}, Since: time.Now().Add(-searched)}
	_ = log.QueryNewest(ctx, filter, func(r query.Record) error { // the others stay unknown
		if _, has := found[r.Hook]; !has && hooks[r.Hook] {
			found[r.Hook] = r
		}
		if len(found) == len(hooks) {
			return query.ErrEnough
		}
		return nil
	})
	return found
}

// showGone lists the hooks that no worker serves.
func showGone(e *cli.Env, list []ran) {
	if len(list) == 0 {
		return
	}
	e.Out.Print("\nnot live: no worker serves these registered hooks\n")
	rows := [][]term.Cell{term.Heads("HOOK", "LAST RAN", "LAST ANSWER")}
	for _, r := range list {
		ran, last := "not known", ""
		if r.Last != nil {
			ran, last = shortVersion(r.Policy), r.Last.UTC().Format(time.RFC3339)
		}
		rows = append(rows, term.Row(term.Printable(r.Hook), ran, term.OrDash(last)))
	}
	e.Out.Table(rows)
}
