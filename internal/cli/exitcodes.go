package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// exitCodes is the help topic for all exit codes.
const exitCodes = "exit-codes"

// ExitCodes is the text that `hookctl help exit-codes` prints.
const ExitCodes = `Exit codes:
  0  done; for emit and execute: continue
  1  wrong usage, or an error on this side; for validate: the hook breaks
     the contract; for test: one failed
  2  emit, execute: the event is denied
  3  the router refused the request; the message has its code
  4  no router answers, or NATS, or for trace Jaeger, can't be reached or
     does not permit it
  5  emit: a person must be asked
  6  execute: a person is asked and has not answered yet
  7  approvals answer: too late (decided or expired), or about other data;
     nothing changed
  8  audit replay --fail-on-diff, policy diff and compare: a decision would
     differ
  audit verify, check, witness: 0 witnessed, 10 pinned, 20 unanchored,
     30 diverged, 40 invalid, 50 incomplete, 60 unknown format
`

// ownExitCodes are the exit codes of individual commands, by command path.
var ownExitCodes = map[string]string{
	"emit":             "0 continue, 2 denied, 5 a person must be asked",
	"execute":          "0 continue, 2 denied, 6 a person has not answered yet",
	"validate":         "1 the hook breaks the contract",
	"approvals answer": "7 too late, or about other data: nothing changed",
	"audit verify":     verdictCodes,
	"audit check":      "0 proved, 40 not proved, 60 unknown format",
	"audit witness":    verdictCodes,
}

const verdictCodes = `0 witnessed, 10 pinned, 20 unanchored, 30 diverged,
            40 invalid, 50 incomplete, 60 unknown format`

// exitLine returns the end of a command's help: its own exit codes, or those of every command.
func exitLine(command *kong.Node) string {
	const more = "            see hookctl help " + exitCodes + "\n"
	if command == nil || command.Type != kong.CommandNode {
		return "Exit codes: 0 done, 1 an error here, 3 refused, 4 unreachable;\n" + more
	}
	if strings.Contains(command.Detail, "Exit codes:") {
		return "Exit codes: those above, and 3 refused, 4 unreachable;\n" + more
	}
	path := strings.TrimPrefix(command.FullPath(), "hookctl ")
	if own, has := ownExitCodes[path]; has {
		return "Exit codes: " + own + "; others:\n" + more
	}
	return exitLine(nil)
}
