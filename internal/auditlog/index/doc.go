// Package index finds the messages of the audit log that say something about an id: an
// event's, a chain's, an approval request's or a session's.
//
// The index is a bucket beside the log. One router at a time, whoever holds its lease,
// reads the log behind the writers, on no event's path, and writes a block for each 2,048
// messages. A block is 32 keys, by hash: a look-up reads one of them per block, and then
// the messages that no block covers yet.
//
// It needs no trust and no backup. What it says is checked against the records, so a hash
// that two ids share costs a read and finds nothing false; what it lacks, a reader of the
// whole log finds. An operator may empty the bucket: it is built again.
//
// # Keys
//
// <segment>.<partition>.<from>-<to> holds entries of a block, head.<segment> the last
// message that blocks cover, owner.lease who writes. Blocks are written before the head
// that covers them: a router that dies between leaves keys that say nothing false.
package index
