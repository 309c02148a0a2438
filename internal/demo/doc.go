// Package demo is `hook-router demo`: one agent turn, read from a recording, goes
// through the example hooks over a real NATS server, all in this process, and
// what each hook did is printed. At the end the guard's worker is killed and the
// dangerous call tried again.
package demo
