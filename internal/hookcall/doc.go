// Package hookcall sends events to hooks and watchers over NATS: the transport of
// package dispatch, and of whoever else calls a hook.
//
// A hook is called by request-reply on <prefix>.call.<id>. Each message carries the
// event's CloudEvents attributes, the chain's id, a call id of its own, the mode, the
// time that is left and W3C trace context as headers, and the data as its body.
// Watchers read <prefix>.event.<event> and <prefix>.result.<event>.
package hookcall
