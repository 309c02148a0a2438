package policy

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// CompareCmd is `hookctl policy compare`.
type CompareCmd struct {
	Name string `arg:"" help:"Name of the policy."`
	cli.Period
	Show int `default:"20" placeholder:"N" help:"How many differences text output shows; JSON has all."`
}

// Help describes the command.
func (c *CompareCmd) Help() string {
	return `Of each event, what a hook in shadow would have answered is compared with what the enforced one did, as the audit log has both. A hook that only
the version in shadow has is compared with continue; so is one that only the enforced version has, if the version in shadow has other hooks for
the event. An event that was denied before it reached the hook is not compared.

Exit codes: 0 no answer differs; 1 error, or nothing is in shadow; 8 some differ.`
}

// answers are the answers of the shadow and the enforced version of one hook in one chain.
type answers struct {
	shadow, enforced *query.Record
	hook             string
}

// difference is one line of the JSON form.
type difference struct {
	Kind     string    `json:"kind"` // difference
	ChainID  string    `json:"chain_id"`
	Session  string    `json:"session_id"`
	Event    string    `json:"event"`
	Time     time.Time `json:"time"`
	Hook     string    `json:"hook"`
	Enforced string    `json:"enforced"`
	Shadow   string    `json:"shadow"`
	Reason   string    `json:"reason,omitempty"`
	Policy   string    `json:"policy"` // the version in shadow
}

// Run compares the recorded answers.
func (c *CompareCmd) Run(ctx context.Context, e *cli.Env) error {
	since, err := c.From(time.Now())
	if err != nil {
		return err
	}
	log, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	pairs := pairs{policy: c.Name + "@", of: map[string]*answers{}, in: map[string]string{}}
	filter := query.Filter{Since: since, Kinds: []audit.Kind{audit.HookResult, audit.HookError, audit.HookTimeout, audit.HookSkipped}}
	if err := log.Query(ctx, filter, func(r query.Record) error { pairs.add(&r); return nil }); err != nil {
		return fmt.Errorf("compare policies: %w", err)
	}
	var list []difference
	compared := 0
	pairs.each(func(a *answers, version string) {
		compared++
		if d, differs := a.differ(version); differs && !e.Out.Line(d) {
			list = append(list, d)
		} else if differs {
			list = append(list, difference{}) // only counted
		}
	})
	if compared == 0 {
		if err := checkShadow(ctx, e, c.Name); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		e.Exit = ExitDiffers
	}
	c.show(e, compared, list)
	return nil
}

// checkShadow returns an error if no version of a policy is in shadow.
func checkShadow(ctx context.Context, e *cli.Env, name string) error {
	if err := bundle.CheckName(name); err != nil {
		return err
	}
	admin := e.As("admin") // a keeper may read the log, but no policies
	admin.Forbidden = "no answer in shadow is recorded, and an admin may ask whether the policy is stored"
	defer admin.Close()
	client, err := admin.Client(ctx)
	if err != nil {
		return err
	}
	serials := map[bundle.Use]uint64{} // as stored; the signatures are not checked
	for _, use := range [...]bundle.Use{bundle.Enforce, bundle.Shadow} {
		raw, _, err := ask(ctx, clientconn.Of(client), name, use, 0)
		if err != nil {
			return fmt.Errorf("ask for policy %s: %w", name, err)
		}
		if len(raw) == 0 {
			continue
		}
		said, err := bundle.Claimed(raw)
		if err != nil {
			return fmt.Errorf("read the stored policy %s: %w", name, err)
		}
		serials[use] = said.Serial
	}
	switch enforced, shadow := serials[bundle.Enforce], serials[bundle.Shadow]; {
	case enforced+shadow == 0:
		return fmt.Errorf("policy compare: no policy %s is stored: `hookctl policy status` lists what workers follow", name)
	case shadow <= enforced:
		return fmt.Errorf("policy compare: nothing of policy %s is in shadow: push a version with `hookctl policy push --shadow` first", name)
	}
	return nil
}

func (c *CompareCmd) show(e *cli.Env, compared int, list []difference) {
	if e.Out.Line(struct {
		Kind     string `json:"kind"`
		Compared int    `json:"compared"`
		Differ   int    `json:"differ"`
	}{"summary", compared, len(list)}) {
		return
	}
	e.Out.Print("%s compared: %s\n", term.Plural(compared, "answer"), e.Out.Paint(differColor(len(list)), fmt.Sprintf("%d would differ", len(list))))
	for i, d := range list {
		if i == c.Show {
			e.Out.Print("\nand %d more: --show shows more of them, --json all\n", len(list)-i)
			break
		}
		changed{
			d.Time, d.Event, term.Clip(term.Printable(d.Hook), 30), term.Printable(d.Enforced),
			e.Out.Paint(cli.ActionColor(chain.Action(d.Shadow)), term.Printable(d.Shadow)), d.Reason, d.ChainID,
		}.print(e.Out)
	}
}
