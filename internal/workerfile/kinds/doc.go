// Package kinds provides all kinds of hooks that a worker file may have: builtin, cel, exec, http
// and rego. A program that imports it links all of them, including CEL and OPA.
package kinds
