//go:build !unix

package eventlog

// noFollow has no effect here: on Windows, creating a symbolic link requires a special privilege.
const noFollow = 0
