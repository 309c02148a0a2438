// Package examples lists the example hooks of the specification, each a package
// of its own: what a hook author copies, and what the demo runs.
//
// A hook is a Registration, which says when it wants to be called, and a function,
// which answers. The functions know no network: they run in a worker on the bus,
// in a [chain.Registry] in this process, or in a test, all the same.
package examples

import (
	"github.com/hookrouter/hookrouter/examples/audit"
	"github.com/hookrouter/hookrouter/examples/bashvalidator"
	"github.com/hookrouter/hookrouter/examples/datetime"
	"github.com/hookrouter/hookrouter/examples/gitstatus"
	"github.com/hookrouter/hookrouter/examples/linter"
	"github.com/hookrouter/hookrouter/examples/notifier"
	"github.com/hookrouter/hookrouter/examples/pathguard"
	"github.com/hookrouter/hookrouter/examples/productionguard"
	"github.com/hookrouter/hookrouter/examples/progress"
	"github.com/hookrouter/hookrouter/examples/redaction"
	"github.com/hookrouter/hookrouter/examples/sessioncontext"
	"github.com/hookrouter/hookrouter/examples/sessionstats"
	"github.com/hookrouter/hookrouter/examples/todo"
	"github.com/hookrouter/hookrouter/examples/toolsuggest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Example is one hook, ready to be registered.
type Example struct {
	Registration chain.Registration
	Hook         chain.Hook
}

// All returns the example hooks with their defaults, guards first. Only the path
// guard leaves .env files to the production guard, so that a person is asked
// about them. Each call makes hooks of its own, which share no state with others.
func All() []Example {
	return []Example{
		{bashvalidator.Registration(), bashvalidator.Hook()},
		{pathguard.Registration(), pathguard.Hook(pathguard.Options{Secrets: []string{".key", ".pem"}})},
		{redaction.Registration(), redaction.Hook(redaction.Options{})},
		{productionguard.Registration(), productionguard.Hook(productionguard.Options{})},
		{audit.Registration(), audit.Hook(audit.Options{})},
		{linter.Registration(), linter.Hook(linter.Options{})},
		{sessioncontext.Registration(), sessioncontext.Hook(sessioncontext.Options{})},
		{gitstatus.Registration(), gitstatus.Hook(gitstatus.Options{})},
		{datetime.Registration(), datetime.Hook(datetime.Options{})},
		{todo.Registration(), todo.Hook(todo.Options{})},
		{progress.Registration(), progress.Hook()},
		{sessionstats.Registration(), sessionstats.Hook(sessionstats.Options{})},
		{toolsuggest.Registration(), toolsuggest.Hook()},
		{notifier.Registration(), notifier.Hook(notifier.Options{})},
	}
}
