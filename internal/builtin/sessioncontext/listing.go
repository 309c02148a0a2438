package sessioncontext

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxEntries limits the directory entries that are read for all patterns of one text.
const maxEntries = 10_000

// listing is a file system for [fs.Glob]. It does not block on a pipe in place of a directory, and
// reads a limited number of entries.
type listing struct {
	*os.Root
	left int   // entries that may still be read
	err  error // why a directory was not read, which Glob does not report
}

// Open implements [fs.FS].
func (l *listing) Open(name string) (fs.File, error) { return open(l.Root, name) }

// Stat implements [fs.StatFS].
func (l *listing) Stat(name string) (fs.FileInfo, error) { return l.Root.Stat(name) }

// ReadDir implements [fs.ReadDirFS]. The entries are not sorted.
func (l *listing) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := open(l.Root, name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(l.left + 1)
	if l.left -= len(entries); l.left < 0 {
		l.left = 0
		l.err = fmt.Errorf("list %s: the patterns lead through more than %d files", name, maxEntries)
		return nil, l.err
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// open opens a file for reading. It does not wait for the writer of a pipe.
func open(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
