package identity_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/identity"
)

// The users of a router and of an agent.
const routerUser, agentUser = 65533, 65534

// as runs f with the rights of a user. Only root can.
func as(t *testing.T, user uintptr, f func()) {
	t.Helper()
	const same = ^uintptr(0)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with its user
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, same, user, same)
		if errno == 0 {
			f()
			done <- nil
			return
		}
		done <- errno
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// handOver gives a directory to a user, and lets everybody change it.
func handOver(t *testing.T, dir string, user int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o777), os.Chown(path, user, user))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func rootOnly(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act for several users")
	}
}

// An agent that may write beside the router's store plants keys that it knows.
func TestKeysOfAnotherUserAreRefused(t *testing.T) {
	t.Parallel()
	rootOnly(t)
	planted, empty := authority(t).Dir(), filepath.Join(t.TempDir(), "auth")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{planted, empty} {
		handOver(t, filepath.Dir(filepath.Dir(dir)), agentUser)
		as(t, routerUser, func() {
			if _, err := identity.EnsureServed(dir, "hooks"); err == nil || !strings.Contains(err.Error(), "another user") {
				t.Errorf("%s: %v", dir, err)
			}
		})
	}
	as(t, agentUser, func() {
		if _, err := identity.EnsureServed(planted, "hooks"); err != nil {
			t.Errorf("its owner: %v", err)
		}
	})
}

// Else a router that runs as its own user learns of no later change: what root revoked is
// admitted on.
func TestWhatRootChangesStaysTheRouters(t *testing.T) {
	t.Parallel()
	rootOnly(t)
	dir := authority(t, identity.Identity{Name: "coder", Role: identity.Agent}).Dir()
	handOver(t, filepath.Dir(filepath.Dir(dir)), routerUser)
	err := identity.Change(dir, func(a *identity.Authority) error {
		_, err := a.AddToken("coder", time.Time{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var token string
	err = identity.Change(dir, func(a *identity.Authority) error {
		i, err := a.Rotate("coder", time.Time{})
		token = i.Token()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	as(t, routerUser, func() {
		f, err := identity.OpenFile(filepath.Join(dir, identity.DirectoryFile), nil)
		if err != nil {
			t.Error(err)
			return
		}
		if label, ok := f.Bearer(token); !ok || label != "agent/coder" {
			t.Errorf("the new token is %q's", label)
		}
		if err := identity.Change(dir, func(a *identity.Authority) error { _, err := a.Revoke("coder"); return err }); err != nil {
			t.Errorf("a later change: %v", err)
		}
	})
}

// Root gives away no file that the owner of the directory linked to.
func TestRootGivesAwayNothingElse(t *testing.T) {
	t.Parallel()
	rootOnly(t)
	for sentence, link := range map[string]func(from, to string) error{"hard": os.Link, "symbolic": os.Symlink} {
		dir := authority(t).Dir()
		secret := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(secret, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		handOver(t, dir, routerUser)
		if err := link(secret, filepath.Join(dir, "lock")); err != nil {
			t.Fatal(err)
		}
		if err := identity.Change(dir, func(*identity.Authority) error { return nil }); err == nil {
			t.Errorf("a %s link is no error", sentence)
		}
		if info, err := os.Stat(secret); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Errorf("a %s link: %v, %v", sentence, info, err)
		}
	}
}
