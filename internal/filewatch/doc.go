// Package filewatch reports changes of files' content, for programs that reload them.
//
// # Usage
//
// [New] watches files from then on, so call it before they are read. [Watcher.Changed]
// receives a value when the content of one of them differs from the last time and has
// been stable for [Settle]; a change that was reverted meanwhile is not reported.
// [Watcher.Watch] replaces the set of files.
//
// # What is noticed
//
// The directories are watched, not the files: an editor that writes a new file in the
// place of the old one is noticed, and so is Kubernetes, which swaps a symbolic link
// beside it. A file that is gone counts as changed. A directory that is itself among what
// is watched changes when something comes into it or leaves it, or a file in it is
// written; not with what is in directories below it. What happens on another machine,
// to a file on a network, is not noticed.
//
// # Failure
//
// [New] and [Watcher.Watch] return an error if the system has no watches left.
//
// # Concurrency
//
// A Watcher may be used by many goroutines. It has one goroutine of its own, which
// [Watcher.Close] ends and waits for.
package filewatch
