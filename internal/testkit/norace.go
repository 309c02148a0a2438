//go:build !race

package testkit

// RaceFlags build a program as this test is built.
var RaceFlags []string
