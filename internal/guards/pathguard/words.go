package pathguard

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// words finds the files that one argument may name.
func (s *collector) words(w shell.Word, a access, file bool) {
	for _, text := range texts(w.Text) {
		w.Glob = w.Glob && !(strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "=")) // the shell would expand the whole word
		if hosts, readonly := mounted(text); s.contains && len(hosts) > 0 {
			a.unsure, a.below = a.unsure && !readonly, true
			for _, host := range hosts {
				s.word(w, host, a, file)
			}
			continue
		}
		if _, behind, found := strings.Cut(text, ":"); found && s.prefixed {
			text = behind
		}
		s.word(w, strings.TrimLeft(text, "@<"), a, file) // curl -d @file
	}
}

// texts returns the parts of an argument that may be a path: all of it, the value of NAME=value,
// and a value that is joined to an option.
func texts(text string) []string {
	key, value, found := strings.Cut(text, "=")
	switch {
	case strings.HasPrefix(text, "-") && found:
		return []string{value}
	case strings.HasPrefix(text, "-"):
		if at := strings.IndexAny(text, "/~.@<"); at == 2 || at > 0 && text[at] != '.' {
			return []string{text[at:]}
		}
		return nil
	case found && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") == "":
		return []string{value}
	case found && !strings.ContainsAny(key, "/ "):
		return []string{text, value}
	}
	return []string{text}
}

// word records a file that a command names. file is true if it certainly is one.
func (s *collector) word(w shell.Word, text string, a access, file bool) {
	if s.budget.spent || text == "" || text == "-" || strings.Contains(text, "://") && !paths.IsURL(text) && !strings.Contains(text, "/..") {
		return
	}
	if !w.Known {
		if substituted := strings.HasPrefix(w.Text, "<(") && strings.HasSuffix(w.Text, ")"); file && !substituted {
			s.unclear = append(s.unclear, fmt.Sprintf("which file %s is can't be known", clip(w.Text)))
		}
		return
	}
	a.glob, a.deep = w.Glob, w.Deep
	if file && len(s.dirs) == 0 && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~") {
		s.unclear = append(s.unclear, fmt.Sprintf("where %s is can't be known", clip(text)))
	}
	s.all = append(s.all, s.found(text, a)...)
	if w.Deep {
		a.below, a.glob, a.deep = true, false, false
		s.all = append(s.all, s.found(path.Dir(text), a)...)
	}
}

// found returns an access in each directory where the command may run, unless it was returned
// before.
func (s *collector) found(text string, a access) (all []access) {
	dirs := s.dirs
	if len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if !s.budget.isNew(text, dir, a) {
			continue
		}
		a.path = paths.Resolve(text, dir)
		if !s.budget.take(a) {
			break
		}
		all = append(all, a)
	}
	return all
}
