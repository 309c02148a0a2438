package hookctl

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/agents"
	"github.com/hookrouter/hookrouter/internal/cli/approvals"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/auth"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/cli/freeze"
	"github.com/hookrouter/hookrouter/internal/cli/guard"
	"github.com/hookrouter/hookrouter/internal/cli/hook"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/cli/scan"
	"github.com/hookrouter/hookrouter/internal/cli/session"
	"github.com/hookrouter/hookrouter/internal/cli/trace"
	"github.com/hookrouter/hookrouter/internal/cli/why"
	"github.com/hookrouter/hookrouter/internal/completion"
)

// commands is the command line.
type commands struct {
	Emit          event.EmitCmd          `cmd:"" help:"Run the hooks of an event and show what they decided."`
	Execute       event.ExecuteCmd       `cmd:"" help:"Run the hooks of an event, ask people where hooks do, and show the verdict."`
	Collect       event.CollectCmd       `cmd:"" help:"Call all hooks of an event in parallel and show their data."`
	Contributions event.ContributionsCmd `cmd:"" help:"Collect a contribution channel and show the contributions."`
	Handlers      hook.HandlersCmd       `cmd:"" help:"List hook names by the pattern they registered."`
	Registry      hook.RegistryCmd       `cmd:"" help:"List every registration, or accept that some were lost."`
	Explain       event.ExplainCmd       `cmd:"" help:"Show which hooks would run for an event, in order; calls none."`
	Watch         event.WatchCmd         `cmd:"" help:"Show events and their results as they happen, until interrupted."`
	Events        event.CatalogCmd       `cmd:"" help:"Show the standard events, or the schema of one; needs no NATS."`
	Approvals     approvals.Cmd          `cmd:"" help:"Answer the approval requests of hooks."`
	Why           why.Cmd                `cmd:"" help:"Tell why something was denied or allowed, by any id: which hook and rule, what changed, who approved, and what to type next."`
	Audit         auditCmd               `cmd:"" help:"Read, export and prove the audit log."`
	Trace         trace.Cmd              `cmd:"" help:"Show a chain as a waterfall of timings, from Jaeger or the audit log."`
	Coverage      audit.CoverageCmd      `cmd:"" help:"List agents by the events they emitted; those that never emit tool:pre come first."`
	Session       session.Cmd            `cmd:"" help:"Show and change a session's state."`
	Freeze        freeze.Cmd             `cmd:"" help:"Permit nothing any more, to anybody, an agent or in a session; without a scope, list what is frozen."`
	Thaw          freeze.ThawCmd         `cmd:"" help:"Lift a freeze."`
	Guard         guard.Cmd              `cmd:"" help:"Pin guards that must be in force, and that no worker can weaken."`
	Scan          scan.Cmd               `cmd:"" help:"Show what a policy would have made of what coding agents did on this machine; needs no NATS."`
	Hook          hook.Cmd               `cmd:"" help:"Serve a hook of one line, or remove a hook."`
	Auth          auth.Cmd               `cmd:"" help:"Create and end credentials for agents, workers and people."`
	Test          policy.TestCmd         `cmd:"" help:"Run the tests of worker files, or events through one, and show what hooks decide; needs no NATS."`
	Validate      hook.ValidateCmd       `cmd:"" help:"Call a live hook with valid and invalid data, and check that it keeps the contract."`
	Connect       agents.ConnectCmd      `cmd:"" help:"Put a coding agent of this machine behind the router; without a name, list them. Needs no NATS."`
	Disconnect    agents.DisconnectCmd   `cmd:"" help:"Take a coding agent from behind the router; needs no NATS."`
	Doctor        agents.DoctorCmd       `cmd:"" help:"Try the hooks of connected coding agents, and say what is not gated."`
	Completion    completion.Command     `cmd:"" help:"Print a completion script for a shell."`
}

// Run is the program without the process around it. It returns the exit code.
func Run(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, new(commands))
}
