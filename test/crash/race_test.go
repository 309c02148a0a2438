//go:build race

package crash

// raceFlags build a program as this test is built.
var raceFlags = []string{"-race"}
