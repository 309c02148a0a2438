// Package replay runs recorded events again, through the hooks of today or those
// of a worker file, and says which decisions would differ.
//
// # Usage
//
// A [Source] reads the chains of an audit log, live ([FromLog]) or from an export
// ([FromExport]). A [Policy] says what would come of each: [Live] asks the hooks
// that are registered, a [Worker] those of a file. [Run] takes the one through the
// other, and a [Report] adds up what came of it.
//
// # What is called
//
// Nothing is emitted, published or recorded. [Live] asks a router for order and
// match, and calls a hook only where its registration says replay_safe, or where it
// is in mode shadow; the call says Hook-Mode: shadow. For every other hook the
// recorded chain answers. Where that has no answer either, the chain is refused.
// So that what is compared is what the engine decides, both sides are run by
// [chain.Run]: what was with the recorded answers, what would be with the new ones.
//
// # What the log does not hold
//
// A chain is refused, with the reason, where the log has no data of it: the router
// kept digests only, or it was too large. Where secrets were masked the hooks see
// the mask, and the result says so. Default fields of the agent are not in the log:
// they are taken from what the first modifying hook returned, and where no hook
// modified the data, the session's id is taken for one.
//
// # Approvals
//
// A chain that asked a person is compared by the question: ask_user by the hook that
// asked. What the person answered is no decision of a hook.
//
// # Failure
//
// A [Refusal] is about one chain and is counted. Any other error ends the replay.
//
// # Concurrency
//
// A [Policy] is called by several goroutines. Run returns when all that it started
// has ended, with the results in the order of the log.
package replay
