// Package match compiles and evaluates the CEL expressions of hooks: the match
// of a registration, and the conditions and values of rules.
//
// # Usage
//
// [Compile] a condition once, make one [NewInput] for each event, and call
// [Program.Eval] for each condition on it. [CompileExpr] is for expressions that
// yield a value instead of true or false.
//
// # Variables
//
// event is the event's name and session_id its session, both strings. data is
// the event's data, a map. JSON numbers that are 64-bit integers are int, all
// others double. A member that isn't there is an error: has(data.x) asks first.
//
// tool is the normal form of a tool call, one for all agents (see [events.Tool]):
// name, class, known, partial, operation, command, cwd, path, paths, url, urls, server,
// server_tool; input, the call's input as a map wherever its agent put it; and texts, all
// texts in it but those that an edit replaces. All of them are always there, and empty where the event is about no
// tool. A field that tool doesn't have, or a comparison with a class or an operation
// that doesn't exist, is an error of Compile. Making it is what an expression pays
// that names it, once for each Input.
//
// labels are what the event's session has seen, a list of texts. emitter is who sent the
// event, as far as the connection proves: id, name, role and proven; the texts are empty and
// proven is false where it proves no identity. lineage is the place of the session among its
// sub-agents, as the agent claims: root (the session itself where it claims nothing), parent
// and depth.
//
// now is the time, a timestamp in UTC, and there in rules only ([InRule]): a match is
// evaluated by routers, and two of them must come to the same answer. Rules have the
// functions sets.contains, sets.equivalent, sets.intersects, base64.encode and
// base64.decode too.
//
// Beside the standard functions of CEL there are the string extensions
// (lowerAscii, split, replace, indexOf, …). The pattern of matches is a literal,
// so that it is compiled and checked once.
//
// # Failure
//
// What doesn't compile is an [Error] with its position. An evaluation that fails
// (no such member, no such overload, a result of another type) is an error too;
// the caller decides what it means, by the hook's on_failure.
//
// # Limits
//
// Expressions come from all who may register a hook, and data from all who may
// emit. So one evaluation has a budget of [CostLimit] units; comparing, searching
// and building are charged by the size of their operands before they run, and
// what would go beyond the budget ends at once with [ErrTooCostly]. Whatever the
// expression and the data are, an evaluation takes some tenths of a second at
// worst. (The CEL library's own limit charges calls after they ran, and calls on
// values of unknown type hardly at all: comparing data with itself in a loop took
// minutes under it.)
//
// # Concurrency
//
// A Program and an Expr are immutable and safe for concurrent use. An Input
// belongs to one goroutine: it decodes the data when it is first needed, and
// every program evaluated on it shares the outcome.
package match
