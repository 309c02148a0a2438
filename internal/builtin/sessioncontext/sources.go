package sessioncontext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// maxFiles limits the files that are read.
const maxFiles = 32

// cut is appended to a text that was too long.
const cut = "\n… (cut)"

// sources are the checked Options: where the text comes from. They are not modified after creation.
type sources struct {
	text    string
	files   []string
	command *process.Program // nil for none
	name    string           // of the command, for people
	dir     string
	left    int // bytes that may still be added
}

// check returns an error for an invalid file pattern or a missing directory.
func (s sources) check() error {
	for i, pattern := range s.files {
		_, err := path.Match(pattern, "")
		if err != nil || !filepath.IsLocal(pattern) || path.Clean(pattern) != pattern {
			return kind.At(jsontext.Pointer(fmt.Sprintf("/files/%d", i)), "%q must be a path below %s, or a pattern such as docs/*.md", pattern, s.dir)
		}
	}
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		return kind.Lacks("/dir", fmt.Errorf("%s is not a directory", s.dir))
	}
	return nil
}

// read returns the text of all sources, up to the limit.
func (s sources) read(ctx context.Context) (string, error) {
	var parts []string
	add := func(title, text string) {
		text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
		if text == "" || s.left <= 0 {
			return
		}
		if title != "" {
			text = title + "\n" + text
		}
		if len(text) > s.left {
			text = strings.ToValidUTF8(text[:max(s.left-len(cut), 0)], "") + cut
		}
		s.left -= len(text) + 2
		parts = append(parts, text)
	}
	add("", s.text)
	if err := s.readFiles(add); err != nil {
		return "", err
	}
	if s.command != nil && s.left > 0 {
		out, err := s.command.Run(ctx)
		if err != nil {
			return "", err
		}
		if out.Code != 0 && !out.Cut {
			return "", fmt.Errorf("run %s: exit code %d", s.command.Name(), out.Code)
		}
		add("From "+s.name+":", string(out.Text))
	}
	return strings.Join(parts, "\n\n"), nil
}

func (s sources) readFiles(add func(title, text string)) error {
	if len(s.files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	seen, list := map[string]bool{}, &listing{Root: root, left: maxEntries}
	for _, pattern := range s.files {
		names, err := fs.Glob(list, pattern)
		if err := cmp.Or(err, list.err); err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			if seen[name] || len(seen) == maxFiles {
				continue
			}
			seen[name] = true
			text, err := readFile(root, name, s.left)
			if err != nil {
				return err
			}
			add("From "+name+":", text)
		}
	}
	return nil
}

// readFile reads at most limit+1 bytes of a file. It returns "" for a file that is missing or not
// regular, and an error for a link out of the root.
func readFile(root *os.Root, name string, limit int) (string, error) {
	f, err := open(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	return string(text), err
}
