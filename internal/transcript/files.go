package transcript

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Dirs returns the directories in which agents store their transcripts, for a user's home and
// environment.
func Dirs(home string, getenv func(string) string) []string {
	return []string{
		filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects"),
		filepath.Join(cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex")), "sessions"),
	}
}

// Files returns the transcripts below dirs that were modified at or after since; the zero time
// means all. unreadable is the number of files and directories that could not be read. A missing
// directory counts as empty. Links are not followed.
func Files(dirs []string, since time.Time) (files []string, unreadable int) {
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); os.IsNotExist(err) {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // errors are counted
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
