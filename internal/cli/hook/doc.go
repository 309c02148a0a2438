// Package hook has the commands about registered hooks: list them, add one and serve it,
// validate a live one, disable, enable and remove one, and accept a registry that lost
// hooks.
package hook
