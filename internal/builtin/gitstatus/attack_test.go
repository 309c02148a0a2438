package gitstatus_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/builtin/gitstatus"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestSettingsThatChangeMeanwhileRunNothing has an agent add a filter each time that git starts.
func TestSettingsThatChangeMeanwhileRunNothing(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := func(then string) {
		if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n"+then+"\nexec "+real+" \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("")
	r := newRepository(t, gitstatus.Options{})
	r.put(".gitattributes", "* filter=evil\n")
	r.put("a", "b\n")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(r.dir, "a"), past, past); err != nil {
		t.Fatal(err)
	}
	script(fmt.Sprintf(`case " $* " in *" status "*) printf '[filter "evil"]\n\tclean = touch %s; cat\n' >>'%s/.git/config';; esac`, ran, r.dir))
	if got := r.told(events.PromptSubmit); !strings.Contains(got, " M a") {
		t.Errorf("told %q", got)
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Error("the filter ran")
	}
}

// TestFilesElsewhereAreNotTold has a repository of an agent that names another one.
func TestFilesElsewhereAreNotTold(t *testing.T) {
	for name, set := range map[string]func(r repository, other string){
		"core.worktree": func(r repository, other string) { r.git("config", "core.worktree", other) },
		"a .git file": func(r repository, other string) {
			r.remove(".git")
			r.put(".git", "gitdir: "+filepath.Join(other, ".git")+"\n")
		},
		"a .git file of another's worktree": func(r repository, other string) {
			r.git("-C", other, "worktree", "add", "-q", filepath.Join(r.dir, "..", filepath.Base(r.dir)+"-tree"))
			r.remove(".git")
			r.put(".git", "gitdir: "+filepath.Join(other, ".git", "worktrees", filepath.Base(r.dir)+"-tree")+"\n")
		},
		"a link for .git":   func(r repository, other string) { r.link(other, ".git") },
		"a link for HEAD":   func(r repository, other string) { r.link(other, ".git/objects"); r.link(other, ".git/HEAD") },
		"a link for index":  func(r repository, other string) { r.link(other, ".git/index") },
		"links for refs":    func(r repository, other string) { r.link(other, ".git/objects"); r.link(other, ".git/refs") },
		"the one above":     func(r repository, _ string) { r.remove(".git") },
		"files outside dir": func(r repository, _ string) { r.git("config", "core.worktree", filepath.Dir(r.dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			other := newRepository(t, gitstatus.Options{})
			other.put("secret", "")
			other.git("add", ".")
			other.git("commit", "-qm", "second")
			other.put("secret-2", "")
			dir := filepath.Join(other.dir, "agent")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			r := newRepository(t, gitstatus.Options{Dir: dir})
			if err := os.RemoveAll(r.dir); err != nil {
				t.Fatal(err)
			}
			r.dir = dir
			r.git("init", "-q", "-b", "main")
			r.put("a", "a\n")
			set(r, other.dir)
			result, err := r.Handler(t.Context(), events.Event{Name: events.SessionStart, Session: "s1"})
			if strings.Contains(result.ContextInjection, "secret") {
				t.Errorf("told %q, %v", result.ContextInjection, err)
			}
		})
	}
}

func TestALinkedWorktreeIsKnown(t *testing.T) {
	r := newRepository(t, gitstatus.Options{})
	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "-q", "-b", "side", tree)
	r.dir = tree
	r.put("b", "")
	if got := r.told(events.SessionStart); got != "Git status: branch side\n?? b" {
		t.Errorf("told %q", got)
	}
}

func (r repository) remove(name string) {
	r.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, name)); err != nil {
		r.Fatal(err)
	}
}

// link puts a link to what another repository has at a name.
func (r repository) link(other, name string) {
	r.Helper()
	r.remove(name)
	if err := os.Symlink(filepath.Join(other, name), filepath.Join(r.dir, name)); err != nil {
		r.Fatal(err)
	}
}
