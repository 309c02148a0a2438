//go:build race

package audit_test

func init() { underRace = true }
