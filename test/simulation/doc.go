// Package simulation proves that approvals hold, in virtual time: a real NATS
// server, routers, agents and people run in a [testing/synctest] bubble, where
// minutes pass in milliseconds. Routers are killed, restarted and cut off at
// random; messages take time, so that this happens between any two of them; many
// people answer within ±20 ms of the deadline. Afterwards a checker compares what
// each agent and each person was told with the audit stream.
//
// A seed fixes what everyone is going to do. It does not fix how goroutines are
// scheduled: a run with the same seed is a similar one, not the same. The bubble's
// clock stands while anyone in it can run, so a slow machine makes nothing late. It
// changes who comes first: what is found there can happen anywhere.
package simulation
