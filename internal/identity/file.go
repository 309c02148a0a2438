package identity

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// recheck is the interval at which files are checked for changes.
const recheck = 500 * time.Millisecond

// File has the identities of an identities.json and of the [TokensFile] next to it. It reads them
// again when one changed. A file that can't be read changes nothing. A nil File knows no identity
// and limits nothing. It is safe for concurrent use.
type File struct {
	path string
	log  *slog.Logger
	now  atomic.Pointer[directory]
	next atomic.Int64 // time of the next check, in Unix nanoseconds

	mu     sync.Mutex // guards the fields below, and serializes reads
	seen   [2]fs.FileInfo
	report func(digest string, changes []Difference)
}

// OpenFile reads an identities.json. log may be nil.
func OpenFile(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	err := f.read()
	return f, err
}

// Report calls report with the digest of identities.json, as "sha256:<hex>", and with the changes: once
// now, without any, and then whenever the files changed. It makes one call at a time, and report
// must not block. A nil File never changes.
func (f *File) Report(report func(digest string, changes []Difference)) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report = report
	report(f.now.Load().Digest(), nil)
}

// Sender returns the label of the sender from an account, such as "agent/coder". The error has code
// 503. It reads the files again for an unknown account, which may just have been added.
func (f *File) Sender(account string) (string, error) {
	if label, err := f.current().Sender(account); err == nil {
		return label, nil
	}
	f.reload()
	return f.now.Load().Sender(account)
}

// Worker returns the label of the worker with a public key.
func (f *File) Worker(user string) (label string, ok bool) { return f.current().Worker(user) }

// CheckRegistration returns an error with code 403 if no credentials permit the registration.
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

// Allows reports whether a hook may answer with an action. It does not check the files for changes:
// [File.Sender] does, before the hooks of an event are called.
func (f *File) Allows(hook string, action chain.Action) bool {
	return f == nil || f.now.Load().Allows(hook, action)
}

// Fields returns the members of an event's data that a hook sees; nil for all. Like Allows, it does
// not check the files.
func (f *File) Fields(hook string) []string {
	if f == nil {
		return nil
	}
	return f.now.Load().Fields(hook)
}

func (f *File) current() *directory {
	if now, next := time.Now().UnixNano(), f.next.Load(); now > next && f.next.CompareAndSwap(next, now+int64(recheck)) {
		f.reload()
	}
	return f.now.Load()
}

// Bearer returns the label of the agent with a token, such as "agent/coder"; ok is false if no
// agent has it. It always checks the files, so that a revoked token ends at once.
func (f *File) Bearer(token string) (label string, ok bool) {
	f.reload()
	return f.now.Load().Bearer(token, time.Now())
}

// Bearers returns the number of tokens.
func (f *File) Bearers() int {
	if f == nil {
		return 0
	}
	return f.current().Bearers()
}

// reload reads the files if one changed.
func (f *File) reload() {
	now := f.stat()
	f.mu.Lock()
	same := unchanged(now[0], f.seen[0]) && unchanged(now[1], f.seen[1])
	f.mu.Unlock()
	if same {
		return
	}
	if err := f.read(); err != nil {
		f.log.Error("identities not reloaded; keeping the previous ones", "file", f.path, "error", err)
	}
}

// stat returns the state of the files; nil for a missing one.
func (f *File) stat() (now [2]fs.FileInfo) {
	for i, path := range [...]string{f.path, filepath.Join(filepath.Dir(f.path), TokensFile)} {
		if info, err := os.Stat(path); err == nil {
			now[i] = info
		}
	}
	return now
}

func unchanged(now, seen fs.FileInfo) bool {
	if now == nil || seen == nil {
		return now == nil && seen == nil
	}
	return now.ModTime().Equal(seen.ModTime()) && now.Size() == seen.Size() && os.SameFile(now, seen)
}

func (f *File) read() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.stat()
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("read the identities: %w", err)
	}
	digests, err := readTokens(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	d, err := parseDirectory(text, digests)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.seen = seen
	old := f.now.Swap(d)
	if f.report == nil {
		return nil
	}
	if changes := d.since(old); len(changes) > 0 {
		f.report(d.Digest(), changes)
	}
	return nil
}
