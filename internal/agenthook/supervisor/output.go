package supervisor

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Output is a hook's standard output. A write that can't be delivered returns an error instead of
// losing the answer or ending the process with a signal: agents take a missing answer for approval,
// but obey an exit code.
type Output struct{ File *os.File }

// Write writes an answer. It returns an error if the answer can't be delivered.
func (o Output) Write(answer []byte) (int, error) {
	if len(answer) == 0 {
		return 0, nil
	}
	signal.Ignore(syscall.SIGPIPE)
	if isNull(o.File) {
		return 0, errors.New("the standard output is closed, or leads to " + os.DevNull)
	}
	return o.File.Write(answer)
}

// isNull reports whether a file is the null device. Go opens the null device as the standard output
// of a program that is started with a closed one.
func isNull(f *os.File) bool {
	is, err1 := f.Stat()
	null, err2 := os.Stat(os.DevNull)
	return err1 == nil && err2 == nil && os.SameFile(is, null)
}
