package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/version"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Cmd is `hookctl hook`.
type Cmd struct {
	List    listCmd    `cmd:"" help:"List every registration in full, like hookctl registry."`
	Add     addCmd     `cmd:"" help:"Register a hook and serve it until interrupted, showing each call."`
	Rm      removeCmd  `cmd:"" help:"Remove a hook with every instance of it."`
	Disable disableCmd `cmd:"" help:"Stop calling a hook, whoever registers it, until it is enabled."`
	Enable  enableCmd  `cmd:"" help:"Call a hook again that is disabled."`
}

type addCmd struct {
	ID        string        `arg:"" help:"Id of the hook, unique on the bus."`
	Command   []string      `arg:"" optional:"" help:"Command to run for each event, after --; it reads the event on its standard input and answers a result."`
	On        []string      `required:"" placeholder:"EVENT" help:"Events to register for: names, tool:*, or *. Repeatable."`
	Deny      string        `xor:"does" placeholder:"REASON" help:"Deny the event."`
	Ask       string        `xor:"does" placeholder:"PROMPT" help:"Ask a person."`
	Option    []string      `sep:"none" placeholder:"TEXT" help:"Option that --ask offers; default Allow and Deny. Repeatable."`
	Inject    string        `xor:"does" placeholder:"TEXT" help:"Add text to the agent's context."`
	Modify    string        `xor:"does" placeholder:"JSON" help:"Merge an object into the data; null removes a member (RFC 7396)."`
	Match     string        `placeholder:"CEL" help:"Condition over event, session_id and data; the router evaluates it."`
	Priority  int           `help:"Lower comes first. A negative one is written --priority=-5."`
	Session   string        `placeholder:"ID" help:"Only for this session."`
	OnFailure string        `enum:"continue,deny" default:"continue" help:"What a failure of the hook does: continue or deny."`
	Mode      string        `enum:"enforce,shadow,observe,async" default:"enforce" help:"enforce, shadow, observe, or async: what it injects is for the next turn."`
	Timeout   time.Duration `placeholder:"DURATION" help:"Time for one call; default 5s, at most 30s."`
	Env       []string      `placeholder:"NAME" help:"Environment variable to pass to the command besides the default ones. Repeatable."`
	Replace   bool          `help:"Replace a live hook with the same id."`
}

// Run serves the hook until ctx ends.
func (c *addCmd) Run(ctx context.Context, e *cli.Env) error {
	handler, err := c.handler() //nolint:contextcheck // the check of a script's syntax has a timeout of its own
	if err != nil {
		return err
	}
	reg := c.registration()
	if err := reg.Check(); err != nil {
		return err
	}
	for _, pattern := range c.On {
		e.CheckSpelling(pattern)
	}
	e.Role = "worker"
	if err := c.checkFree(ctx, e); err != nil {
		return err
	}
	client, err := e.Client(ctx)
	if err != nil {
		return err
	}
	w, err := worker.New(client, worker.Options{Name: "hookctl", Version: version.Number()})
	if err != nil {
		return err
	}
	if _, err := w.Register(ctx, reg, shown(e, c.ID, handler)); err != nil {
		_ = w.Close(context.WithoutCancel(ctx))
		return err
	}
	served(e, reg)
	if err := w.Run(ctx); err != nil {
		return fmt.Errorf("stop hook %s: %w", c.ID, err)
	}
	showLeft(e, reg)
	return cli.StopCause(ctx)
}

func (c *addCmd) registration() chain.Registration {
	return chain.Registration{
		ID: c.ID, Events: c.On, Priority: c.Priority, Match: c.Match, SessionID: c.Session,
		OnFailure: chain.Policy(c.OnFailure), Mode: chain.Mode(c.Mode), TimeoutMS: int(c.Timeout / time.Millisecond),
	}
}

// handler returns the handler that the flags describe.
func (c *addCmd) handler() (worker.Handler, error) {
	if err := cli.CheckTimeout(c.Timeout); err != nil {
		return nil, err
	}
	ways := 0
	for _, given := range [...]bool{c.Deny != "", c.Ask != "", c.Inject != "", c.Modify != "", len(c.Command) > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return nil, errors.New("say what the hook does: one of --deny, --ask, --inject, --modify, or a command after --")
	case len(c.Option) > 0 && c.Ask == "":
		return nil, errors.New("use --option: it belongs to --ask")
	case len(c.Env) > 0 && len(c.Command) == 0:
		return nil, errors.New("use --env: it belongs to a command")
	case c.Modify != "":
		return modifier(c.Modify)
	case len(c.Command) > 0:
		return c.command()
	}
	result := chain.Denial(c.Deny)
	if c.Ask != "" {
		result = chain.Question(c.Ask, c.Option...)
	} else if c.Inject != "" {
		result = chain.Injection(c.Inject)
	}
	return func(context.Context, events.Event) (chain.Result, error) { return result, nil }, nil
}

func modifier(patch string) (worker.Handler, error) {
	if _, err := events.ParseObject([]byte(patch)); err != nil {
		return nil, fmt.Errorf("read --modify: %w: give an object like '{\"debug\":true}'", err)
	}
	return func(_ context.Context, ev events.Event) (chain.Result, error) {
		return chain.Replace(jsonedit.Merge(ev.Data, json.RawMessage(patch)))
	}, nil
}

func (c *addCmd) command() (worker.Handler, error) {
	handler, err := exechook.New(exechook.Config{Command: c.Command, Env: c.Env})
	if field, ok := errors.AsType[*kind.FieldError](err); ok {
		return nil, fmt.Errorf("use command %q: %w", strings.Join(c.Command, " "), field.Err)
	}
	return handler, err
}

// checkFree keeps the command from accidentally taking over the id of another hook. If two commands
// pass the check at the same time, the later one wins.
func (c *addCmd) checkFree(ctx context.Context, e *cli.Env) error {
	if c.Replace {
		return nil
	}
	taken, _, err := find(ctx, e, c.ID)
	if errors.Is(err, errUnregistered) {
		return nil
	}
	if err != nil || len(taken.Instances) == 0 {
		return err
	}
	return fmt.Errorf("add hook %s: this id is being served already (%s): choose another, or take it over with --replace; "+
		"if its process died, it is free when the router's --ttl (15s by default) is over", c.ID, term.Plural(len(taken.Instances), "instance"))
}

// errUnregistered is the error of [find] for an id that no hook has.
var errUnregistered = errors.New("it is not registered")

// find returns the registration of a hook, and the connection.
func find(ctx context.Context, e *cli.Env, id string) (*agent.Listing, *natsx.Conn, error) {
	if err := events.CheckHookID(id); err != nil {
		return nil, nil, err
	}
	b, err := e.Connect()
	if err != nil {
		return nil, nil, err
	}
	a, err := e.Agent(ctx, agent.Options{})
	if err != nil {
		return nil, nil, err
	}
	list, err := a.Registry(ctx)
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(list, func(l agent.Listing) bool { return l.ID == id }); i >= 0 {
		return &list[i], b, nil
	}
	if best := similar(id, list); best != "" {
		return nil, nil, fmt.Errorf("%w: did you mean %s?", errUnregistered, best)
	}
	return nil, nil, fmt.Errorf("%w; `hookctl registry` lists the hooks", errUnregistered)
}

// similar returns the id of a registered hook that resembles an unknown id, or "" if there is none.
func similar(id string, list []agent.Listing) string {
	ids := make([]string, len(list))
	for i, l := range list {
		ids[i] = l.ID
	}
	return kind.ClosestWithin(1+len(id)/4, id, ids)
}
