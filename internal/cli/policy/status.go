package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// StatusCmd is `hookctl policy status`.
type StatusCmd struct {
	Name string        `arg:"" optional:"" help:"Only of this policy."`
	Wait time.Duration `default:"500ms" help:"How long workers have to answer, after the last that did."`
}

// Help describes the command.
func (c *StatusCmd) Help() string {
	return "Each worker that follows a signed policy is listed with the version that it enforces, the one that it tries in shadow, and what it refused and why. It is what workers say. Registered hooks that no worker serves follow, with the version by which each answered last, as the audit log has it."
}

// ran is what a worker runs, or a hook that no worker serves.
type ran struct {
	Instance string `json:"instance,omitempty"`
	Live     bool   `json:"live"`
	Hook     string `json:"hook,omitempty"` // that no worker serves
	Name     string `json:"name,omitempty"`
	Policy   string `json:"policy,omitempty"`
	Shadow   string `json:"shadow,omitempty"`
	Refused  string `json:"refused,omitempty"` // the version
	Why      string `json:"why,omitempty"`     // it was refused

	Last *time.Time `json:"last,omitempty"` // time of the hook's last answer
}

// Run asks the workers.
func (c *StatusCmd) Run(ctx context.Context, e *cli.Env) error {
	b, err := e.Connect()
	if err != nil {
		return err
	}
	list, others := []ran{}, []string{}
	err = cli.Discover(ctx, b, micro.APIPrefix+"."+micro.InfoVerb.String(), c.Wait, c.Wait, func(info micro.Info) {
		m := info.Metadata
		switch {
		case m["policy_name"] == "" || m["prefix"] != b.Prefix():
		case c.Name != "" && m["policy_name"] != c.Name:
			others = append(others, m["policy_name"])
		default:
			list = append(list, ran{Instance: m["instance"], Live: true, Name: m["policy_name"], Policy: m["policy"], Shadow: m["policy_shadow"], Refused: m["policy_refused"], Why: m["policy_refused_why"]})
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b ran) int { return strings.Compare(a.Name+" "+a.Instance, b.Name+" "+b.Instance) })
	slices.Sort(others)
	gone, err := c.gone(ctx, e)
	if err != nil {
		e.Tell("which registered hooks have no worker is not known: %v", err)
	}
	if !e.Out.Document(append(list, gone...)) {
		c.show(e, list, slices.Compact(others))
		showGone(e, gone)
	}
	return nil
}

// show lists the workers. others are policies that workers follow when none follows the requested
// one.
func (c *StatusCmd) show(e *cli.Env, list []ran, others []string) {
	switch {
	case len(list) == 0 && len(others) > 0:
		e.Out.Fold(fmt.Sprintf("no worker that answers follows %s; they follow %s", term.Printable(c.Name), term.Printable(strings.Join(others, ", "))))
		return
	case len(list) == 0:
		e.Out.Print("no worker that follows a policy answers\n")
		return
	}
	rows := [][]term.Cell{term.Heads("WORKER", "ENFORCED", "SHADOW")}
	for _, r := range list {
		enforced := term.Row(shortVersion(r.Policy))[0]
		if r.Policy == "" {
			enforced = term.Yellow.Cell("nothing of " + term.Clip(term.Printable(r.Name), 20))
		}
		rows = append(rows, term.Row(term.Clip(term.Printable(r.Instance), 24), enforced, shortVersion(r.Shadow)))
	}
	e.Out.Table(rows)
	for _, r := range list {
		if r.Why != "" {
			refused := "what is stored"
			if r.Refused != "" {
				refused = shortVersion(r.Refused)
			}
			e.Out.Print("\n%s refused %s:\n", term.Clip(term.Printable(r.Instance), 24), refused)
			e.Out.Fold("  " + term.Clip(term.Printable(r.Why), 400))
		}
	}
}

// shortVersion returns a version with the beginning of its digest.
func shortVersion(version string) string {
	const most = 8
	name, digest, found := strings.Cut(version, " sha256:")
	if found && len(digest) > most {
		digest = digest[:most]
	}
	return term.OrDash(term.Printable(strings.TrimSpace(name + " " + digest)))
}
