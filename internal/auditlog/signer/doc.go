// Package notary signs the audit log: each second in which it grew, one router states
// its size and root in a signed checkpoint.
//
// Any router may. Each looks once a second; one that has signed goes on, the others
// stand by and step in when a log that grew has had no checkpoint for three seconds.
// A checkpoint names its predecessor and is appended on the condition that this is
// the last one, so there is one history of them whoever signs.
//
// The root is made of the messages as the stream holds them, read again in its order,
// not of what a router believes to have written. A router that takes over goes on from
// the last checkpoint, if it is signed with its own key; else it reads the segment from
// the beginning. Where what was signed is not what is there, or two checkpoints state
// different roots for one size, it raises an alarm and signs nothing more in this segment.
// Once an operator has closed it, signing goes on with the next.
package signer
