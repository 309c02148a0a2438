package transcript

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Dirs are where the agents keep their transcripts, for a user whose home and environment
// these are.
func Dirs(home string, getenv func(string) string) []string {
	return []string{
		filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects"),
		filepath.Join(cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex")), "sessions"),
	}
}

// Files are the transcripts below the directories that were written since then, the zero
// time meaning all. unreadable is how many files and directories could not be looked at; a
// directory that is not there has none. Links are not followed.
func Files(dirs []string, since time.Time) (files []string, unreadable int) {
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); os.IsNotExist(err) {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // each error is counted
			switch {
			case err != nil:
				unreadable++
				return nil //nolint:nilerr // it is counted, and the others are looked at
			case !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl"):
				return nil
			}
			if info, err := d.Info(); err != nil {
				unreadable++
			} else if !info.ModTime().Before(since) {
				files = append(files, path)
			}
			return nil
		})
	}
	return files, unreadable
}
