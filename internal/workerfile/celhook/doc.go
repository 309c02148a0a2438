// Package celhook is the hook kind cel: rules in CEL that decide without external calls.
//
// # Usage
//
// [New] compiles a [Config] and returns the handler. The rules are tried in order. The first whose
// condition holds, or that has no condition, determines the result. If there is none, the hook
// continues.
//
// Conditions and the values of modify are CEL expressions over event, session_id, data, tool and
// now, the time of the call (see internal/policy/match). Texts are templates: {{ expression }} is
// replaced by the expression's value, a string as it is and any other value as JSON.
//
// # Modify
//
// set replaces or adds the value at a path; remove deletes it. A path consists of names joined by
// dots ("tool_input.command"), or is a JSON Pointer if a name contains dots ("/tool_input/a.b").
// Values that are not on a path keep their bytes, so integers of any size survive.
//
// # Failure
//
// New returns a [kind.FieldError] for each error in the configuration. If an expression fails on an
// event, the handler returns an error: the hook could not decide, and its on_failure applies.
//
// # Concurrency
//
// The handler is safe for concurrent use.
package celhook
