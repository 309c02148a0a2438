// Package celhook is the hook kind cel: rules in CEL that decide without calling
// anything.
//
// # Usage
//
// [New] compiles a [Config] and returns the handler. The rules are tried in
// order; the first whose condition holds, or that has none, yields the result.
// Where none does, the hook continues.
//
// Conditions and the values of modify are CEL expressions over event, session_id,
// data, tool and now, the time of the call (see internal/policy/match). Texts are templates: {{ expression }} is replaced by
// the expression's value, a string as it is and anything else as JSON.
//
// # Modify
//
// set replaces, or adds, what stands at a path; remove deletes it. A path is
// names joined by dots ("tool_input.command"), or a JSON Pointer where a name has
// dots in it ("/tool_input/a.b"). Everything that isn't on a path keeps its bytes,
// so that integers of any size survive.
//
// # Failure
//
// Whatever is wrong with the configuration is a [kind.FieldError] of New. An
// expression that fails on an event is an error of the handler: the hook could
// not decide, and its on_failure does.
//
// # Concurrency
//
// The handler may be called by any number of goroutines.
package celhook
