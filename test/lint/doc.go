// Package lint proves that the linters bite: its test plants one violation of
// each import rule and of each forbidden call in a copy of the module, one at a
// time, and expects .golangci.yml to catch it by name. It is slow by the
// standard of a unit test and needs the linter built, so it stands behind a
// build tag; .ci/run runs it:
//
//	go test -tags planted -count=1 ./test/lint
package lint
