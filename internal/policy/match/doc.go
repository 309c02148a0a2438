// Package match compiles and evaluates the CEL expressions of hooks: the match of a registration,
// and the conditions and values of rules.
//
// # Usage
//
// [Compile] a condition once, create one [NewInput] for each event, and call [Program.Eval] with it
// for each condition. [CompileExpr] compiles expressions that return any value instead of true or
// false.
//
// # Variables
//
// event is the event's name and session_id is its session, both strings. data is the event's data,
// a map. JSON numbers that are 64-bit integers are int, all others are double. Reading a missing
// member is an error: test it with has(data.x) first.
//
// tool is the normalized form of a tool call, the same for all agents (see [events.Tool]): name,
// class, known, partial, operation, command, cwd, path, paths, url, urls, server, server_tool;
// input, the call's input as a map wherever its agent put it; and texts, all texts in it except
// those that an edit replaces. All fields are always present, and empty if the event is not about a
// tool. A field that tool doesn't have, or a comparison with a class or an operation that doesn't
// exist, is a compile error. The tool is built only for expressions that use it, once per Input.
//
// labels are the labels of the event's session, a list of strings. emitter is the sender of the
// event as proven by the connection: id, name, role and proven; if the connection proves no
// identity, the strings are empty and proven is false. lineage is the place of the session among
// its sub-agents, as the agent claims: root (the session itself if it claims nothing), parent and
// depth.
//
// now is the current time, a timestamp in UTC. Only rules have it ([InRule]): routers evaluate
// matches, and all of them must come to the same result. Rules also have the functions
// sets.contains, sets.equivalent, sets.intersects, base64.encode and base64.decode.
//
// In addition to the standard functions of CEL there are the string extensions (lowerAscii, split,
// replace, indexOf, …). The pattern of matches must be a literal, so that it is compiled and
// checked once.
//
// # Failure
//
// A compile error is an [Error] with a position. An evaluation that fails (no such member, no such
// overload, a result of another type) returns an error too; the caller decides what it means,
// according to the hook's on_failure.
//
// # Limits
//
// Expressions come from everyone who may register a hook, and data from everyone who may emit. One
// evaluation therefore has a budget of [CostLimit] units. Comparing, searching and building are
// charged by the size of their operands before they run, and an evaluation that would exceed the
// budget fails at once with [ErrTooCostly]. Whatever the expression and the data, an evaluation
// takes a few tenths of a second at worst. (The CEL library's own limit charges calls after they
// run, and charges little for calls on values of unknown type: under it, comparing data with itself
// in a loop took minutes.)
//
// # Concurrency
//
// A Program and an Expr are immutable and safe for concurrent use. An Input belongs to one
// goroutine: it decodes the data on first use and shares the result among all programs that are
// evaluated on it.
package match
