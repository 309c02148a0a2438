// Package filewatch tells when the content of files has changed, for programs that
// read them again.
//
// # Usage
//
// [New] watches files from then on, so call it before they are read. [Watcher.Changed]
// has a value when one of them has other content than the last time and has stood
// still for [Settle]; what was changed and changed back is no change.
// [Watcher.Watch] says which files are of interest from now on.
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
// Where the system has no watches left, [New] and [Watcher.Watch] say so.
//
// # Concurrency
//
// A Watcher may be used by many goroutines. It has one goroutine of its own, which
// [Watcher.Close] ends and waits for.
package filewatch
