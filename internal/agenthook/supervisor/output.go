package supervisor

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Output is a hook's standard output. Writing an answer that can't be delivered fails, instead of
// ending the process by a signal or being lost: agents obey an exit code then, and take no answer for yes.
type Output struct{ File *os.File }

// Write writes an answer. The error says that it can't be delivered.
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

// isNull reports whether a file takes everything and keeps nothing. Go opens that one for a
// standard output that is closed when the program starts.
func isNull(f *os.File) bool {
	is, err1 := f.Stat()
	null, err2 := os.Stat(os.DevNull)
	return err1 == nil && err2 == nil && os.SameFile(is, null)
}
