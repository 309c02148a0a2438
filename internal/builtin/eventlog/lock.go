package eventlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/DeRuina/timberjack"
	"github.com/gofrs/flock"
)

// fileMode is the mode of new files.
const fileMode = 0o600

// maxWriters limits the processes that log to numbered files of the same path.
const maxWriters = 256

// open opens the first numbered file that no other process has locked.
func (f *file) open(set settings) error {
	if err := os.MkdirAll(filepath.Dir(set.path), 0o700); err != nil {
		return err
	}
	for n := 1; n <= maxWriters; n++ {
		path := numbered(set.path, n)
		unlock, err := lock(path + ".lock")
		switch {
		case errors.Is(err, errLocked):
			continue
		case err != nil:
			return err
		}
		out := &timberjack.Logger{
			Filename:         path,
			MaxSize:          set.maxSizeMB,
			RotationInterval: time.Duration(set.rotateHours) * time.Hour,
			MaxBackups:       set.keep,
			FileMode:         fileMode,
			Compression:      "none",
		}
		if set.gzip {
			out.Compression = "gzip"
		}
		f.out, f.as, f.unlock = out, set, unlock
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= out.RotationInterval {
			return out.RotateWithReason("time")
		}
		return nil
	}
	return fmt.Errorf("%s: %d processes write to it and to its neighbours: give this worker another file", set.path, maxWriters)
}

// close closes the file, if it is open.
func (f *file) close() {
	if f.out == nil {
		return
	}
	if err := f.out.Close(); err != nil {
		f.log.Error("event log not closed", "error", err)
	}
	f.unlock()
	f.out = nil
}

// numbered returns the path of file n: "events.2.jsonl" for "events.jsonl" and 2, and the path
// itself for 1.
func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), n, ext)
}

var errLocked = errors.New("another process holds the lock")

// lock acquires a lock, which the system releases when the process exits. The lock file is never
// deleted, since another process may have it open.
func lock(path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|noFollow), flock.SetPermissions(fileMode))
	locked, err := l.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	case !locked:
		return nil, fmt.Errorf("lock %s: %w", path, errLocked)
	}
	return func() { _ = l.Close() }, nil
}
