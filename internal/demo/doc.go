// Package demo is `hook-router demo`: a recorded agent turn runs through builtin
// hooks over a real NATS server, all in this process, and the answer of each hook
// is printed. At the end the guard's worker is killed and the dangerous call
// repeated.
package demo
