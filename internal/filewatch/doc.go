// Package filewatch reports changes of the content of files, for programs that reload them.
//
// # Usage
//
// Call [New] before reading the files, since it reports only later changes. [Watcher.Changed]
// receives a value when the content of a file has changed and then been stable for [Settle]; a
// change that is reverted in that time is not reported. [Watcher.Watch] replaces the set of files.
//
// # Detected changes
//
// The Watcher watches directories instead of files, so it detects editors that replace a file, and
// Kubernetes, which swaps a symbolic link next to it. A removed file counts as changed. A watched
// directory changes when an entry is added or removed, or when a file in it is written; changes in
// its subdirectories are not detected. Changes that another machine makes on a network file system
// are not detected.
//
// # Failure
//
// [New] and [Watcher.Watch] return an error if the system has no watches left.
//
// # Concurrency
//
// A Watcher is safe for concurrent use. [Watcher.Close] ends its goroutines and waits for them.
package filewatch
