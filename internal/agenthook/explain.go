package agenthook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// explain returns err with an explanation and what a person can do about it.
func (o Options) explain(err error) error {
	var pending *agent.PendingError
	late := o.EventID != "" && errors.Is(err, context.DeadlineExceeded) // the first process has already sent the event to the router
	switch {
	case errors.Is(err, natsx.ErrCredentials) && o.Creds == "":
		servers, role := cmp.Or(o.Server, natsx.DefaultURL), string(hookrouter.RoleAgent)
		if has, found, _ := natscontext.FindBelow(o.Home, os.Getenv, servers, role); found {
			return fmt.Errorf("the router there does not accept the credentials %s: another router may have made them (%w)", has.Creds, err)
		}
		where := natscontext.File(os.Getenv, servers, role)
		return fmt.Errorf("the hook router asks who this agent is, and there are no credentials at %s; on the router's machine its user has them; "+
			"elsewhere make some with `hookctl auth add agent NAME` and connect with them: `hookctl connect AGENT --creds FILE` (%w)", cmp.Or(where, "a place below HOME, which is not set"), err)
	case hookrouter.CodeOf(err) == hookrouter.CodeTooLarge:
		return fmt.Errorf("it is too large for a hook to judge (%w): ask for less at a time, or have the operator raise --max-data of the router", err)
	case errors.As(err, &pending):
		return fmt.Errorf("nobody has answered %q in time; it can be answered with `hookctl approvals answer %s`, then try again", shorten.Bytes(pending.Approval.Prompt, 200, "…"), pending.Approval.ID)
	case errors.Is(err, hookrouter.ErrPermission):
		return fmt.Errorf("these credentials are not an agent's: make some with `hookctl auth add agent NAME` and connect with them (%w)", err)
	case errors.Is(err, hookrouter.ErrNoRouter):
		return errors.New("NATS is there and no hook router answers: is hook-router running, and may these credentials reach it?")
	case errors.Is(err, hookrouter.ErrUnreachable) && !late:
		return fmt.Errorf("the hook router can't be reached: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the hook router did not answer in time (%w)", err)
	case hookrouter.CodeOf(err) == hookrouter.CodeForbidden:
		return fmt.Errorf("the hook router does not know this agent: check --creds or NATS_CREDS (%w)", err)
	}
	return err
}
