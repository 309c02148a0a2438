package hookctl

import (
	"context"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/agents"
	"github.com/hookrouter/hookrouter/internal/cli/approvals"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/auth"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/cli/freeze"
	"github.com/hookrouter/hookrouter/internal/cli/guard"
	"github.com/hookrouter/hookrouter/internal/cli/hook"
	"github.com/hookrouter/hookrouter/internal/cli/initfile"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/cli/scan"
	"github.com/hookrouter/hookrouter/internal/cli/session"
	"github.com/hookrouter/hookrouter/internal/cli/trace"
	"github.com/hookrouter/hookrouter/internal/cli/why"
	"github.com/hookrouter/hookrouter/internal/completion"
)

// groups are the sections of the help, in the order of the commands.
var groups = []kong.Group{
	{Key: "agents", Title: "Agents: their events and sessions"},
	{Key: "hooks", Title: "Hooks: who judges the events"},
	{Key: "approvals", Title: "Approvals: what people decide"},
	{Key: "audit", Title: "Audit: what was decided, and why"},
	{Key: "operate", Title: "Operate: the router and this program"},
}

// commands is the tree of commands.
type commands struct {
	Emit          event.EmitCmd          `cmd:"" group:"agents" help:"Run the hooks of an event and show what they decided."`
	Execute       event.ExecuteCmd       `cmd:"" group:"agents" help:"Run the hooks of an event, ask people where hooks do, and show the verdict."`
	Collect       event.CollectCmd       `cmd:"" group:"agents" help:"Call all hooks of an event in parallel and show their data."`
	Contributions event.ContributionsCmd `cmd:"" group:"agents" help:"Collect a contribution channel and show the contributions."`
	Watch         event.WatchCmd         `cmd:"" group:"agents" help:"Show events and their results as they happen, until interrupted."`
	Events        event.CatalogCmd       `cmd:"" group:"agents" help:"Show the standard events, or the schema of one; needs no NATS."`
	Session       session.Cmd            `cmd:"" group:"agents" help:"Show and change a session's state."`
	Coverage      audit.CoverageCmd      `cmd:"" group:"agents" help:"List agents by the events they emitted; those that never emit tool:pre come first."`
	Connect       agents.ConnectCmd      `cmd:"" group:"agents" help:"Put a coding agent of this machine behind the router; without a name, list them. Needs no NATS."`
	Disconnect    agents.DisconnectCmd   `cmd:"" group:"agents" help:"Take a coding agent from behind the router; needs no NATS."`
	Doctor        agents.DoctorCmd       `cmd:"" group:"agents" help:"Try the hooks of connected coding agents, and say what is not gated."`
	Scan          scan.Cmd               `cmd:"" group:"agents" help:"Show what a policy would have made of what coding agents did on this machine; needs no NATS."`
	Handlers      hook.HandlersCmd       `cmd:"" group:"hooks" help:"List hooks by the pattern they registered."`
	Registry      hook.RegistryCmd       `cmd:"" group:"hooks" help:"List every registration, or accept that some were lost."`
	Explain       event.ExplainCmd       `cmd:"" group:"hooks" help:"Show which hooks would run for an event, in order; calls none."`
	Guard         guard.Cmd              `cmd:"" group:"hooks" help:"Pin guards that must be in force, and that no worker can weaken."`
	Hook          hook.Cmd               `cmd:"" group:"hooks" help:"List, disable, enable and remove hooks, or serve one of one line."`
	Init          initfile.Cmd           `cmd:"" group:"hooks" help:"Write a commented worker file for what is found in a directory; needs no NATS."`
	Test          policy.TestCmd         `cmd:"" group:"hooks" help:"Run the tests of worker files, or events through one, and show what hooks decide; needs no NATS."`
	Policy        policy.Cmd             `cmd:"" group:"hooks" help:"Compare, sign and roll out the policies of workers."`
	Validate      hook.ValidateCmd       `cmd:"" group:"hooks" help:"Call a live hook with valid and invalid data, and check that it keeps the contract."`
	Approvals     approvals.Cmd          `cmd:"" group:"approvals" help:"Answer the approval requests of hooks."`
	Why           why.Cmd                `cmd:"" group:"audit" help:"Tell why something was denied or allowed, by any id: which hook and rule, what changed, who approved, and what to type next."`
	Audit         auditCmd               `cmd:"" group:"audit" help:"Read, export and prove the audit log."`
	Trace         trace.Cmd              `cmd:"" group:"audit" help:"Show a chain as a waterfall of timings, from Jaeger or the audit log."`
	Freeze        freeze.Cmd             `cmd:"" group:"operate" help:"Deny every action of all agents, of one agent or in one session; without a scope, list what is frozen."`
	Thaw          freeze.ThawCmd         `cmd:"" group:"operate" help:"Lift a freeze."`
	Auth          auth.Cmd               `cmd:"" group:"operate" help:"Create and end credentials for agents, workers and people."`
	Completion    completion.Command     `cmd:"" tree:"" group:"operate" help:"Print a completion script for a shell."`
	Version       cli.VersionCmd         `cmd:"" group:"operate" help:"Print the version, with the commit and its date; needs no NATS."`
	Help          cli.HelpCmd            `cmd:"" tree:"" group:"operate" help:"Show the help of a command, or of connection or exit-codes."`
}

// Run runs hookctl in the given process environment, and returns the exit code.
func Run(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, new(commands), kong.ExplicitGroups(groups))
}
