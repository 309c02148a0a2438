// Package scan implements `hookctl scan`, which shows what a policy would have decided about the
// past actions of coding agents on this machine. It reads their transcripts, writes nothing, and
// needs no router.
package scan
