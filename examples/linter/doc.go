// Package linter is an example hook that runs a linter on each file the agent
// wrote and tells the agent what it found, so that it can mend it in the same
// turn.
//
// It uses what the machine has, the first that works of
//
//	.go         golangci-lint, go vet, gofmt
//	.py         ruff, pyflakes, python3 (syntax only)
//	.sh, .bash  shellcheck, sh or bash (syntax only)
//
// and tells the user where there is none.
//
// It must run where the agent's files are, and a linter may obey settings it finds
// beside them: run it with no more rights than the agent has.
package linter
