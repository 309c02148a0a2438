package policy

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookrouter/hookrouter/internal/process"
)

// maxArchive bounds the directory of a worker file at a revision, in bytes.
const maxArchive = 64 << 20

// revision is a worker file in a Git repository, as git:REV:PATH names it.
type revision struct{ rev, path string }

// parseRevision reads git:REV:PATH; given is whether the text is meant as one.
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

// checkout writes the directory of the file, as it is in the revision, to an empty
// directory, and returns where the file is there, and the commit that it is from.
func (r revision) checkout(ctx context.Context, to string) (path, commit string, err error) {
	git, err := process.Find("", "git")
	if err != nil {
		return "", "", err
	}
	var told bytes.Buffer
	out, err := process.Program{
		Path: git, Args: []string{"-C", filepath.Dir(r.path), "archive", "--format=tar", r.rev, "--", "."},
		Env: process.Environ(process.DefaultEnv), Stderr: &told, MaxOutput: maxArchive,
	}.Run(ctx)
	switch {
	case err != nil:
		return "", "", err
	case out.Cut:
		return "", "", fmt.Errorf("the directory of %s has more than %d MB in %s", r.path, maxArchive>>20, r.rev)
	case out.Code != 0:
		return "", "", fmt.Errorf("read %s in %s: %s", r.path, r.rev, strings.TrimSpace(told.String()))
	}
	if commit, err = untar(out.Text, to); err != nil {
		return "", "", fmt.Errorf("read %s in %s: %w", r.path, r.rev, err)
	}
	path = filepath.Join(to, filepath.Base(r.path))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("there is no %s in %s", r.path, r.rev)
	}
	return path, commit, nil
}

// untar writes the regular files of an archive below a directory. What would leave it is an
// error; links are left out. The commit is the one that Git names in the archive; empty for none.
func untar(archive []byte, to string) (commit string, err error) {
	root, err := os.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		head, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return commit, nil
		case err != nil:
			return "", err
		case head.Typeflag == tar.TypeXGlobalHeader:
			commit = head.PAXRecords["comment"]
			continue
		case head.Typeflag != tar.TypeReg:
			continue
		}
		content, err := io.ReadAll(in)
		if err == nil {
			err = root.MkdirAll(filepath.Dir(head.Name), 0o700)
		}
		if err == nil {
			err = root.WriteFile(head.Name, content, os.FileMode(head.Mode)&0o700|0o400)
		}
		if err != nil {
			return "", err
		}
	}
}
