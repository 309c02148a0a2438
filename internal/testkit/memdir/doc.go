// Package memdir finds a directory in memory for the stores of NATS servers in tests, which spend
// most of their time on creating and removing small files. Tests about disks must use another
// directory.
package memdir
