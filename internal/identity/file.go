package identity

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// recheck is how often a file is looked at.
const recheck = time.Second

// File is the [Directory] of an identities.json as the file is now: it is read again
// where it changed. A file that can't be read changes nothing. A nil File knows nobody and
// limits nothing. It may be used by many goroutines.
type File struct {
	path string
	log  *slog.Logger
	now  atomic.Pointer[Directory]
	next atomic.Int64 // when it is looked at again, Unix nanoseconds

	mu   sync.Mutex // guards what follows, and that one reads at a time
	seen fs.FileInfo
}

// OpenFile reads an identities.json. log may be nil.
func OpenFile(path string, log *slog.Logger) (*File, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f := &File{path: path, log: log}
	err := f.read()
	return f, err
}

// Sender is [Directory.Sender]. An account that is unknown may have been added just now.
func (f *File) Sender(account string) (string, error) {
	if label, err := f.current().Sender(account); err == nil {
		return label, nil
	}
	f.reload()
	return f.now.Load().Sender(account)
}

// CheckRegistration is [Directory.CheckRegistration].
func (f *File) CheckRegistration(r chain.Registration) error {
	if f == nil {
		return nil
	}
	if f.current().CheckRegistration(r) == nil {
		return nil
	}
	f.reload()
	return f.now.Load().CheckRegistration(r)
}

// Allows is [Directory.Allows].
func (f *File) Allows(hook string, action chain.Action) bool {
	return f == nil || f.current().Allows(hook, action)
}

// Fields is [Directory.Fields].
func (f *File) Fields(hook string) []string {
	if f == nil {
		return nil
	}
	return f.current().Fields(hook)
}

func (f *File) current() *Directory {
	if now, next := time.Now().UnixNano(), f.next.Load(); now > next && f.next.CompareAndSwap(next, now+int64(recheck)) {
		f.reload()
	}
	return f.now.Load()
}

// reload reads the file where it changed.
func (f *File) reload() {
	info, err := os.Stat(f.path)
	f.mu.Lock()
	same := err == nil && f.seen != nil && info.ModTime().Equal(f.seen.ModTime()) && info.Size() == f.seen.Size() && os.SameFile(info, f.seen)
	f.mu.Unlock()
	if same {
		return
	}
	if err := f.read(); err != nil {
		f.log.Error("identities not reloaded; they stay as they were", "file", f.path, "error", err)
	}
}

func (f *File) read() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("read the identities: %w", err)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("read the identities: %w", err)
	}
	d, err := ParseDirectory(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.seen = info
	f.now.Store(d)
	return nil
}
