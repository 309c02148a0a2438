// Package pathguard is an example hook that keeps an agent away from directories
// and files it has no business with: /etc, /root, .ssh, keys.
//
// It judges every tool that is given a path (file_path, notebook_path or path),
// reading ones too. Paths are cleaned first, so that /tmp/../etc/passwd is seen
// for what it is, and compared without regard to case.
//
// What it can't see: symbolic links, since it may run on another machine than
// the agent; shell commands, which are no paths; and a search in a directory
// above a protected one. Where that matters, confine the agent's process.
//
// The guard denies when it fails, or when nobody answers for it.
package pathguard
