//go:build !race

package testkit

// RaceFlags are the flags that build a program with the race detector if this test has it.
var RaceFlags []string
