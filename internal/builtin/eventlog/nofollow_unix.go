//go:build unix

package eventlog

import "syscall"

// noFollow refuses to open a symbolic link.
const noFollow = syscall.O_NOFOLLOW
