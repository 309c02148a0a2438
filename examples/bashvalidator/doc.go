// Package bashvalidator is an example hook that stops shell commands which
// destroy the machine: removing the root, a system directory or a home, writing
// to a disk, a fork bomb.
//
// It reads a command as a shell does: words, quotes, backslashes, several
// commands in one line, command substitution, sudo and the like, sh -c and eval,
// a cd before. So rm  -rf  /, rm -fr /, sudo rm -rf /*, "rm" -r -f
// --no-preserve-root / and cd / && rm -rf * are denied, while rm -rf /tmp/x,
// echo "rm -rf /" and a commit message about it are not.
//
// What it can't see: values of variables (rm -rf "$DIR"/), aliases and functions,
// what comes through a pipe or a file (base64 -d | sh, xargs), programs in other
// languages (python -c), and damage below the directories it knows. It catches
// accidents and the plain attempt; against an adversary confine the agent's
// process.
//
// The guard denies when it fails, or when nobody answers for it.
package bashvalidator
