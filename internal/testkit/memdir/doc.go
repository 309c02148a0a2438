// Package memdir names a directory in memory, for the stores of NATS servers in tests:
// most of the time that such a server takes goes into creating and removing small files.
// What a test says about disks belongs in a directory of its own.
package memdir
