// Package index finds the audit log's messages about an id of an event, a chain, an approval
// request or a session.
//
// The index is a bucket next to the log. The router that holds its lease reads the log behind the
// writers, off every event's path, and writes a block for each 2,048 messages. A block has 32 keys,
// by hash: a look-up reads one of them for each block, and then the messages that no block covers
// yet.
//
// The index needs no trust and no backup. Its entries are checked against the records, so a hash
// collision costs a read but never gives a false result. Readers of the whole log find what the
// index lacks. An operator may empty the bucket; it is then rebuilt.
//
// # Keys
//
// <segment>.<partition>.<from>-<to> holds entries of a block, head.<segment> the last message
// that blocks cover, owner.lease the current writer. Blocks are written before the head that
// covers them: a router that dies in between leaves keys that are still correct.
package index
