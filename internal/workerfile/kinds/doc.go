// Package kinds joins the kinds of hooks that a worker file may have: builtin, cel,
// exec, http and rego. A program that imports it links all of them, CEL and OPA
// included.
package kinds
