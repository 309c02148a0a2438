package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/process"
)

// maxContent bounds the directory of a worker file at a revision, in bytes.
const maxContent = 64 << 20

// revision is a worker file in a Git repository, written as git:REV:PATH.
type revision struct{ rev, path string }

// parseRevision parses git:REV:PATH. given reports whether the text has that prefix.
func parseRevision(text string) (r revision, given bool, err error) {
	rest, given := strings.CutPrefix(text, "git:")
	if !given {
		return r, false, nil
	}
	rev, path, _ := strings.Cut(rest, ":")
	if rev == "" || path == "" || strings.HasPrefix(rev, "-") {
		return r, true, fmt.Errorf("%q is not a revision: write git:REVISION:FILE, such as git:main:policy.yaml", text)
	}
	return revision{rev, filepath.FromSlash(path)}, true, nil
}

// checkout writes the directory of the file, as of the revision, to an empty directory. It returns
// the path of the file there, and the commit. The files are written as committed: attributes and
// settings of the repository do not apply.
func (r revision) checkout(ctx context.Context, to string) (path, commit string, err error) {
	path = filepath.Join(to, filepath.Base(r.path))
	if commit, err = r.write(ctx, to); err != nil {
		return "", "", fmt.Errorf("read %s in %s: %w", r.path, r.rev, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("there is no %s in %s", r.path, r.rev)
	}
	return path, commit, nil
}

func (r revision) write(ctx context.Context, to string) (commit string, err error) {
	head, err := r.git(ctx, nil, "rev-parse", "--verify", "--end-of-options", r.rev+"^{commit}")
	if err != nil {
		return "", err
	}
	commit = strings.TrimSpace(string(head))
	list, err := r.git(ctx, nil, "ls-tree", "-r", "-z", commit, "--", ".")
	if err != nil {
		return "", err
	}
	files, wanted := blobs(list)
	content, err := r.git(ctx, wanted, "cat-file", "--batch")
	if err != nil {
		return "", err
	}
	return commit, place(to, files, content)
}

// git runs git in the directory of the file, and returns its output.
func (r revision) git(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	git, err := process.Find("", "git")
	if err != nil {
		return nil, err
	}
	var told bytes.Buffer
	out, err := process.Program{
		Path: git, Args: append([]string{"-C", filepath.Dir(r.path)}, args...),
		Env: process.Environ(process.DefaultEnv, "GIT_NO_REPLACE_OBJECTS=1"), Input: input, Stderr: &told, MaxOutput: maxContent,
	}.Run(ctx)
	switch {
	case err != nil:
		return nil, err
	case out.Cut:
		return nil, fmt.Errorf("its directory has more than %d MB", maxContent>>20)
	case out.Code != 0:
		return nil, errors.New(strings.TrimSpace(told.String()))
	}
	return out.Text, nil
}

// blob is a file in a commit.
type blob struct {
	name       string
	executable bool
}

// blobs parses the output of git ls-tree. It returns the regular files, and the lines that request
// their content.
func blobs(list []byte) (files []blob, wanted []byte) {
	for entry := range strings.SplitSeq(string(list), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if mode := strings.Fields(about); len(mode) == 3 && (mode[0] == "100644" || mode[0] == "100755") {
			files = append(files, blob{name, mode[0] == "100755"})
			wanted = append(append(wanted, mode[2]...), '\n')
		}
	}
	return files, wanted
}

// place writes files below a directory, with the content that git cat-file printed. A path that
// leaves the directory is an error.
func place(to string, files []blob, content []byte) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range files {
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		words := strings.Fields(string(line)) // hash, type, size
		if len(words) != 3 {
			return fmt.Errorf("%s: %s", file.name, line)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 || size >= len(rest) {
			return fmt.Errorf("%s: its content is cut", file.name)
		}
		mode := fs.FileMode(0o600)
		if file.executable {
			mode = 0o700
		}
		name := filepath.FromSlash(file.name)
		if err = root.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = root.WriteFile(name, rest[:size], mode)
		}
		if err != nil {
			return err
		}
		content = rest[size+1:]
	}
	return nil
}
