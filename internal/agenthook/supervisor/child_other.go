//go:build !unix

package supervisor

import "os"

// child is the second process.
type child struct{ *os.Process }

func start(program string, args, env []string, files ...*os.File) (child, error) {
	p, err := os.StartProcess(program, args, &os.ProcAttr{Env: env, Files: files, Sys: dieWithParent()})
	return child{p}, err
}

func (c child) kill() { _ = c.Kill() }

func (c child) wait() string { return failure(c.Process) }
