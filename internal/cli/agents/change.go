package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

// backup is the suffix of the copy that keeps a configuration as it was before the first change.
const backup = ".before-hookrouter"

// pluginHead is how the plug-in for OpenCode begins.
const pluginHead = "// Written by `hookctl connect opencode`"

// change is a change to one file. A nil before or after means that the file does not exist.
type change struct {
	path          string
	before, after []byte
	original      []byte // saved as the backup if people edit the file too
	keep          bool   // keep a backup, or leave the existing one
	within        string // the directory that existed before connect; connect may have created those below it
}

// connecting returns the changes that add hook-agent to a configuration.
func connecting(path string, h hooks) ([]change, error) {
	if !h.target.merge {
		return wholeFiles(path, h)
	}
	before, original, err := originalOf(path, h.target)
	if err != nil {
		return nil, err
	}
	after, err := add(original, h)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", path, err)
	}
	return h.target.withFeatures([]change{{path: path, before: before, after: after, original: original, keep: true}}, true)
}

// disconnecting returns the changes that remove hook-agent from a configuration.
func disconnecting(path string, t target) (list []change, err error) {
	if t.merge {
		list, err = t.restoring(path)
	} else {
		list, err = wholeFiles(path, hooks{target: t})
	}
	for i := range list {
		list[i].within = t.root(path)
		if !t.merge {
			list[i].after = nil
		}
	}
	return list, err
}

// restoring returns the changes that remove hook-agent from files that people edit too.
func (t target) restoring(path string) ([]change, error) {
	before, original, err := originalOf(path, t)
	if err != nil {
		return nil, err
	}
	return t.withFeatures([]change{{path: path, before: before, after: original}}, false)
}

// withFeatures adds the change to Codex's settings if they are in a different file than the hooks.
func (t target) withFeatures(list []change, connect bool) ([]change, error) {
	if t.dialect != "codex" || t.toml {
		return list, nil
	}
	c, err := ttyChange(list[0].path, connect)
	return append(list, c), err
}

// wholeFiles returns the changes to the files that belong to hook-agent alone.
func wholeFiles(path string, h hooks) (list []change, err error) {
	for name, text := range h.target.files(h) {
		file := path
		if name != "" {
			file = filepath.Join(filepath.Dir(path), name)
		}
		before, err := read(file)
		if err != nil {
			return nil, err
		}
		if !isBlank(before) && string(before) != text && !h.target.wrote(before) {
			return nil, fmt.Errorf("%s is not a file that connect wrote: move it away, or see where the link leads", file)
		}
		list = append(list, change{path: file, before: before, after: []byte(text)})
	}
	slices.SortFunc(list, func(a, b change) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// wrote reports whether connect wrote a file that has all hooks of an agent, in any version.
func (t target) wrote(text []byte) bool {
	return len(commands(text, t)) > 0 || t.dialect == "opencode" && bytes.HasPrefix(text, []byte(pluginHead))
}

// originalOf returns a configuration and its content without hook-agent: the backup if nothing else
// has changed since, otherwise the current content minus the hooks.
func originalOf(path string, t target) (now, original []byte, err error) {
	if now, err = read(path); err != nil || now == nil {
		return nil, nil, err
	}
	if err := t.broken(now); err != nil {
		return nil, nil, fmt.Errorf("edit %s: repair it first: %w", path, err)
	}
	kept, err := read(path + backup)
	if err != nil {
		return nil, nil, err
	}
	h, connected := written(now, t)
	if again, err := add(kept, h); connected && err == nil && bytes.Equal(again, now) {
		return now, kept, nil // kept is nil if there was no file
	}
	original, err = remove(now, t)
	if err != nil {
		return nil, nil, fmt.Errorf("edit %s: %w", path, err)
	}
	return now, original, nil
}

// nothing reports whether the file stays as it is.
func (c change) nothing() bool {
	return bytes.Equal(c.before, c.after) && (c.before == nil) == (c.after == nil)
}

// apply writes the change: first the backup, then the file, atomically and with its previous
// permissions. A symbolic link stays a link.
func (c change) apply() error {
	path := followed(c.path)
	if c.after == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		prune(filepath.Dir(c.path), c.within)
		return c.settle()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as the agents make them
		return err
	}
	if c.keep && c.original != nil {
		if err := replace(c.path+backup, c.original, path); err != nil {
			return err
		}
	}
	if err := replace(path, c.after, path); err != nil {
		return err
	}
	return c.settle()
}

// settle removes a backup that is no longer needed.
func (c change) settle() error {
	if c.keep {
		return nil
	}
	err := os.Remove(c.path + backup)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// replace writes a file atomically, with the permissions and the owner of another file: root may
// connect another user's agent.
func replace(path string, text []byte, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return atomicfile.Write(path, text, 0o600)
	}
	if err := atomicfile.Write(path, text, info.Mode().Perm()); err != nil {
		return err
	}
	return giveTo(path, info)
}

// followed returns the file that a symbolic link points to, whether or not that file exists.
func followed(path string) string {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// prune removes dir and its parents while they are empty. It stops at within, since connect may
// have created only the directories below it.
func prune(dir, within string) {
	for len(dir) > len(within) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || os.Remove(dir) != nil { // a link, or not empty
			return
		}
		dir = filepath.Dir(dir)
	}
}

// read reads a file. It returns nil if the file does not exist.
func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}
