// Package hookcall sends events to hooks and observers over NATS. It is the transport of package
// dispatch and of other callers of hooks.
//
// Hooks are called by request-reply on <prefix>.call.<id>. Each message has headers with the
// event's CloudEvents attributes, the chain's id, a new call id, the mode, the time left and W3C
// trace context. Its body is the data. Observers read <prefix>.event.<event> and
// <prefix>.result.<event>.
package hookcall
