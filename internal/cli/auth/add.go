package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/internal/identity"
)

type addCmd struct {
	Role    string         `arg:"" optional:"" default:"" enum:",agent,worker,approver,operator,admin,keeper,auditor,witness,archive,state,router" help:"agent, worker, approver, operator, admin, keeper (audit log), auditor, witness or archive (a mirror of it), state (what hooks remember) or router."`
	Name    string         `arg:"" optional:"" help:"Name of the agent, the program or the person."`
	HTTP    string         `name:"http" placeholder:"NAME" help:"In place of role and name: create a token for the HTTP API for this agent, which is added where there is none."`
	Expires *time.Duration `placeholder:"TIME" help:"How long the credentials hold, such as 720h; default: until they are revoked."`

	Hook        []string       `placeholder:"ID" help:"Worker: the hooks that it answers for."`
	Event       []string       `placeholder:"PATTERN" help:"Worker: the events that they may register for; default all."`
	Priority    *string        `placeholder:"MIN..MAX" help:"Worker: the priorities that they may have; default all."`
	May         []string       `placeholder:"ACTION" help:"Worker: what they may answer besides continue and deny: modify, inject_context, ask_user or nothing; default all."`
	Field       []string       `placeholder:"NAME" help:"Worker: the members of the data that they see, such as tool_input.command; default all. Needs --may without modify."`
	WitnessKey  string         `placeholder:"KEY|FILE" help:"Witness: its verifier key, or a file with it, as hookctl audit key show prints it: it may publish signatures of that key."`
	CallTimeout *time.Duration `placeholder:"TIME" help:"Worker: the most that one call may take."`

	directory
}

// Run creates the credentials.
func (c *addCmd) Run(ctx context.Context, e *cli.Env) error {
	switch {
	case c.HTTP != "" && c.Role != "":
		return errors.New("--http names the agent: leave the role and the name out")
	case c.HTTP != "":
		return c.addToken(ctx, e)
	case c.Role == "" || c.Name == "":
		return errors.New("name a role and who has it, as in: hookctl auth add agent coder")
	}
	for _, event := range c.Event {
		e.CheckSpelling(event)
	}
	i := identity.Identity{Name: c.Name, Role: identity.Role(c.Role), Hooks: c.Hook}
	var err error
	if i.Expires, err = end(c.Expires); err != nil {
		return err
	}
	if i.May, err = c.limits(); err != nil {
		return err
	}
	if i.Witness, err = c.witness(); err != nil {
		return err
	}
	var file string
	i, err = c.change(ctx, e, "the credentials are made", func(a *identity.Authority) (identity.Identity, error) {
		file = a.CredsFile(i)
		return a.Add(i)
	})
	if err != nil {
		return err
	}
	return shown(e, i, file)
}

// end returns when credentials with a limited lifetime expire, or the zero time without a limit.
func end(hold *time.Duration) (time.Time, error) {
	switch {
	case hold == nil:
		return time.Time{}, nil
	case *hold < time.Second:
		return time.Time{}, fmt.Errorf("--expires %v: credentials hold for a second or more", *hold)
	}
	return time.Now().Add(*hold).UTC().Truncate(time.Second), nil
}

// witness returns the token of the witness's key.
func (c *addCmd) witness() (string, error) {
	switch {
	case c.WitnessKey == "" && c.Role == string(identity.Witness):
		return "", errors.New("name the key that the witness signs with: --witness-key; hookctl audit key new makes one")
	case c.WitnessKey == "":
		return "", nil
	}
	list, err := verifierkeys.Read("--witness-key", []string{c.WitnessKey})
	if err != nil {
		return "", err
	}
	if len(list) != 1 {
		return "", fmt.Errorf("--witness-key: %d keys are given: name one", len(list))
	}
	return witness.ID(list[0]), nil
}

// addToken creates a token for the HTTP API.
func (c *addCmd) addToken(ctx context.Context, e *cli.Env) error {
	limits, err := c.limits()
	if err != nil {
		return err
	}
	if limits != nil || len(c.Hook) > 0 {
		return errors.New("--http is for an agent: the limits of a worker mean nothing there")
	}
	expires, err := end(c.Expires)
	if err != nil {
		return err
	}
	i, err := c.change(ctx, e, "the token is made", func(a *identity.Authority) (identity.Identity, error) { return a.AddToken(c.HTTP, expires) })
	if err != nil {
		return err
	}
	return shown(e, i, "")
}

// shown prints the path of the credentials, and the token.
func shown(e *cli.Env, i identity.Identity, file string) error {
	if e.Out.Document(struct {
		identity.Identity
		Creds string `json:"creds,omitempty"`
		Token string `json:"token,omitempty"`
	}{i, file, i.Token()}) {
		return nil
	}
	if i.Token() != "" {
		e.Out.Print("token of %s, which is shown this once: %s\n", term.Printable(i.Label()), i.Token())
		e.Out.Print("  programs send it as Authorization: Bearer TOKEN to the router's HTTP API\n")
	}
	if file == "" {
		return nil
	}
	e.Out.Print("credentials of %s: %s\n", term.Printable(i.Label()), term.Printable(file))
	e.Out.Print("  give the file to nobody else; programs take it as --creds or NATS_CREDS\n")
	return nil
}
