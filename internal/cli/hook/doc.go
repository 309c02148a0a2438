// Package hook implements the commands for registered hooks: list them, add and serve one, validate
// a live one, disable, enable and remove one, and accept the loss of registrations.
package hook
