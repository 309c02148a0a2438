package agents

import (
	"path/filepath"
	"regexp"
	"slices"
)

// envFile says which .env files an agent reads variables from. The zero envFile means none.
type envFile struct {
	dir     string // of the agent's own .env files, beside those in the directories themselves
	project bool   // it reads those of the working directory and above, too
}

// envFiles returns the .env files that an agent may read.
func (t target) envFiles(getenv func(string) string) []string {
	if t.dotenv.dir == "" {
		return nil
	}
	var dirs []string
	if here, err := filepath.Abs("."); err == nil && t.dotenv.project {
		for dirs = []string{here}; here != filepath.Dir(here); dirs = append(dirs, here) {
			here = filepath.Dir(here)
		}
	}
	if settings, err := t.path(user, getenv); err == nil {
		dirs = append(dirs, filepath.Dir(settings), filepath.Dir(filepath.Dir(settings)))
	}
	var files []string
	for _, dir := range append(dirs, getenv("HOME")) {
		files = append(files, filepath.Join(dir, t.dotenv.dir, ".env"), filepath.Join(dir, ".env"))
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// checkDotenv finds .env files that make an agent read other settings than those at path.
func (t target) checkDotenv(path string, getenv func(string) string, list *findings) {
	names := []string{t.instead}
	if own, err := t.path(user, getenv); err == nil && own == path {
		names = append(names, t.moved.variable)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || getenv(name) != "" })
	for _, file := range t.envFiles(getenv) {
		text, _ := read(file) // most do not exist
		for _, name := range names {
			if regexp.MustCompile(`(?m)^\s*(export\s+)?` + name + `\s*[=:]`).Match(text) {
				list.say("fail", "%s sets %s: where %s trusts the folder, it reads other settings than %s", file, name, t.program, path)
			}
		}
	}
}
