package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type answerCmd struct {
	ID        string        `arg:"" help:"Id of the approval request, as approvals list shows it."`
	Option    string        `arg:"" optional:"" help:"The answer: an option of the approval request, in any letter case; omit it to list the options."`
	Note      string        `placeholder:"TEXT" help:"Why, for the record."`
	By        string        `placeholder:"NAME" help:"Who answers; default: the local user. Recorded beside the identity that the connection proves."`
	SHA256    string        `name:"sha256" placeholder:"DIGEST" help:"Answer only if the data has this digest, which show prints; default: the current data."`
	Pass      bool          `help:"Decide nothing: leave it to others, who see --note. What a model may do that finds nothing wrong."`
	Scope     string        `enum:",session,lineage,agent" default:"" placeholder:"SCOPE" help:"What \"Allow always\" is for: session, the default; lineage, the tree of sessions; or agent, all its sessions. The last two take agents with identities."`
	For       time.Duration `placeholder:"TIME" help:"How long \"Allow always\" holds, such as 24h; default: as long as the session, and 30 days for a lineage or an agent."`
	AnyOption bool          `help:"Let an answer that is not offered decide too: it denies, unless it is Allow, Allow once or Allow always."`
}

// answered is the JSON form of an accepted answer.
type answered struct {
	ID     string `json:"id"`
	Status string `json:"status"` // accepted
	Option string `json:"option"`
	// Progress says who must allow too; empty if the answer ended it.
	Progress string `json:"progress,omitempty"`
}

// Run sends the answer.
func (c *answerCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	if c.Pass && c.Option != "" {
		return fmt.Errorf("answer approval %s: --pass leaves it to others, and %q decides: leave one of them out", c.ID, c.Option)
	}
	if c.SHA256 == "" || c.Option == "" {
		r, err := a.Get(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("answer approval %s: %w", c.ID, cmp.Or(errors.Unwrap(err), err)) // the request is not shown here
		}
		if c.Option == "" && !c.Pass {
			return fmt.Errorf("answer approval %s: say which option: %s", c.ID, quoted(r.Options))
		}
		c.SHA256 = r.DataSHA256
	}
	var expires approval.Time
	if c.For != 0 {
		expires = approval.At(time.Now().Add(c.For))
	}
	option, err := a.Answer(ctx, c.ID, approval.Answer{
		Scope: c.Scope, Expires: expires, Option: c.Option, By: cmp.Or(c.By, cli.OSUser()), Note: c.Note, DataSHA256: c.SHA256, FreeText: c.AnyOption, Pass: c.Pass,
	})
	if wire.CodeOf(err) == wire.Malformed && !c.AnyOption {
		err = c.meant(ctx, a, err)
	}
	if err != nil {
		return cli.ClosedOr(err)
	}
	progress := missing(ctx, a, c.ID)
	switch {
	case e.Out.Document(answered{c.ID, "accepted", option, progress}):
	case c.Pass:
		e.Out.Print("accepted: others decide\n")
	case progress != "":
		e.Out.Print("accepted: %s; %s\n", term.Printable(option), term.Printable(progress))
	default:
		e.Out.Print("accepted: %s\n", term.Printable(option))
	}
	return nil
}

// meant adds to an error the option that is closest to a misspelt answer.
func (c *answerCmd) meant(ctx context.Context, a *approver.Approver, err error) error {
	r, lost := a.Get(ctx, c.ID)
	if best := kind.Closest(c.Option, r.Options); lost == nil && best != "" && !strings.EqualFold(best, c.Option) {
		return fmt.Errorf("%w; did you mean %q?", err, best)
	}
	return err
}

// missing returns who else must allow a request, or "" if it is decided.
func missing(ctx context.Context, a *approver.Approver, id string) string {
	r, err := a.Get(ctx, id)
	if err != nil || r.Decision != nil {
		return ""
	}
	return r.Progress
}

// quoted returns the options in quotes, as they are typed on a command line.
func quoted(options []string) string {
	list := make([]string, len(options))
	for i, option := range options {
		list[i] = strconv.Quote(option)
	}
	return strings.Join(list, ", ")
}
