package policy

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/follow"
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

// Help is what the command does, at length.
func (c *CompareCmd) Help() string {
	return `Of each event, what a hook in shadow would have answered is compared with what the enforced one did, as the audit log has both. A hook that only
the version in shadow has is compared with continue. What was denied before it came to the hook is not compared.

Exit codes: 0 no answer differs; 1 error, or nothing is in shadow; 8 some differ.`
}

// answers are those of one hook in one chain.
type answers struct {
	shadow, enforced *query.Record
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

// Run compares.
func (c *CompareCmd) Run(ctx context.Context, e *cli.Env) error {
	since, err := c.From(time.Now())
	if err != nil {
		return err
	}
	log, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	found, order := map[string]*answers{}, []string{}
	filter := query.Filter{Since: since, Kinds: []audit.Kind{audit.HookResult, audit.HookError, audit.HookTimeout}}
	err = log.Query(ctx, filter, func(r query.Record) error {
		hook, tried := strings.CutSuffix(r.Hook, follow.ShadowSuffix)
		switch {
		case r.Hook == "", r.Shadow && !(tried && strings.HasPrefix(r.Policy, c.Name+"@")):
			return nil
		case !r.Shadow:
			hook = r.Hook
		}
		key := r.ChainID + " " + hook
		one := found[key]
		if one == nil {
			one = &answers{}
			found[key], order = one, append(order, key)
		}
		if r.Shadow {
			one.shadow = &r
		} else {
			one.enforced = &r
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare policies: %w", err)
	}
	var list []difference
	compared := 0
	for _, key := range order {
		one := found[key]
		if one.shadow == nil {
			continue
		}
		compared++
		if d, differs := one.differ(); differs && !e.Out.Line(d) {
			list = append(list, d)
		} else if differs {
			list = append(list, difference{}) // counted
		}
	}
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
	admin := e.As("admin") // a keeper may read the log, and no policy
	admin.Forbidden = "no answer in shadow is recorded, and an admin may ask whether the policy is stored"
	defer admin.Close()
	client, err := admin.Client(ctx)
	if err != nil {
		return err
	}
	serials := map[bundle.Use]uint64{} // as stored, whoever signed them
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

// differ compares what the two did.
func (a *answers) differ() (difference, bool) {
	did := func(r *query.Record) string {
		switch {
		case r == nil:
			return string(chain.Continue)
		case r.Failure != "":
			return "failed (" + r.Failure + ")"
		}
		return cmp.Or(r.Action, string(chain.Continue))
	}
	s := a.shadow
	d := difference{
		"difference", s.ChainID, s.Session, s.Event, s.Time, strings.TrimSuffix(s.Hook, follow.ShadowSuffix),
		did(a.enforced), did(s), s.Reason, s.Policy,
	}
	return d, d.Enforced != d.Shadow
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
		e.Out.Print("\n%s  %s  %s\n", d.Time.UTC().Format(time.RFC3339), term.Clip(term.Printable(d.Event), 24), term.Clip(term.Printable(d.Hook), 30))
		e.Out.Print("  %s, would be %s\n", term.Printable(d.Enforced), e.Out.Paint(cli.ActionColor(chain.Action(d.Shadow)), term.Printable(d.Shadow)))
		if d.Reason != "" {
			e.Out.Print("  %s\n", term.Clip(term.Printable(d.Reason), 76))
		}
		e.Out.Print("  hookctl why %s\n", term.Printable(d.ChainID))
	}
}
