// Package kinds joins the kinds of hooks that a worker file may have: builtin, cel and
// exec. A program that imports it links all of them, CEL included.
package kinds
