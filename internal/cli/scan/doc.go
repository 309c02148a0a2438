// Package scan has hookctl scan: what a policy would have made of what coding agents did on
// this machine. It reads their transcripts and writes nothing; it needs no router.
package scan
