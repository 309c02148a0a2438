//go:build race

package integration

// raceFlags build a program as this test is built.
var raceFlags = []string{"-race"}
