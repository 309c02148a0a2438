//go:build !unix

package eventlog

// noFollow is nothing here: creating a symbolic link takes a privilege of its own on
// Windows.
const noFollow = 0
