package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// tracked reports whether a git command lists only tracked files.
func tracked(git Command) bool {
	switch git.Verb() {
	case "ls-files":
		return Option(git, "-o") == No && Option(git, "--others") == No && Option(git, "-i") == No && Option(git, "--ignored") == No
	case "diff":
		return Option(git, "--name-only") == Yes
	case "grep":
		return Option(git, "-l") == Yes || Option(git, "--name-only") == Yes
	}
	return false
}

// listed returns the files that a command lists, as patterns. For find these are a name in or below
// each start directory. It returns nil if the names are unknown.
func listed(find Command) (all []Word) {
	if find.Name() == "git" && tracked(find) {
		return []Word{{Text: "./*", Known: true, Glob: true, Deep: true}}
	}
	switch find.Name() {
	case "ls":
		return named(find)
	case "rg":
		return searched(find)
	case "grep":
		return grepped(find)
	case "find":
	default:
		return nil
	}
	dirs, end := Starts(find)
	names := namesOf(find.Args()[end:])
	if len(dirs) > maxDirs || len(names) > maxDirs {
		return nil
	}
	for _, name := range names {
		for _, dir := range dirs {
			if !dir.Known {
				return nil
			}
			w := Word{Text: path.Join(dir.Text, name), Known: true, Glob: dir.Glob || strings.ContainsAny(name, "*?"), Deep: true}
			if !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "~") {
				w.Text = "./" + w.Text
			}
			all = append(all, w)
			if strings.ContainsAny(name[:1], "*?") { // a wildcard of the shell does not match a leading dot
				w.Text = w.Text[:len(w.Text)-len(name)] + ".*" + name[1:]
				all = append(all, w)
			}
		}
	}
	return all
}

// valuedTests are tests of find that take a value.
var valuedTests = strings.Fields("-name -iname -path -ipath -wholename -iwholename -type -newer -user")

// namesOf returns the file names that find tests for, one for each alternative. An alternative that
// only prunes a directory matches nothing if another one has an explicit action.
func namesOf(tests []Word) (names []string) {
	name, prunes := "", false
	prints := slices.ContainsFunc(tests, func(w Word) bool { return strings.HasPrefix(w.Text, "-print") || strings.HasPrefix(w.Text, "-exec") })
	ends := func() bool {
		skipped := prunes && prints && name == ""
		if !skipped && (strings.Trim(name, "*?.") == "" || strings.ContainsAny(name, "[/\\")) {
			return false
		}
		if !skipped {
			names = append(names, name)
		}
		name, prunes = "", false
		return true
	}
	excluded := 0 // remaining words of a negated test, which matches only fewer files
	for i, w := range tests {
		switch {
		case excluded > 0:
			excluded--
		case (w.Text == "!" || w.Text == "-not") && i+2 < len(tests) && slices.Contains(valuedTests, tests[i+1].Text):
			excluded = 2
		case w.Text == "-o" || w.Text == "-or":
			if !ends() {
				return nil
			}
		case slices.Contains([]string{",", "!", "-not"}, w.Text):
			return nil
		case w.Text == "-prune":
			prunes = true
		case w.Text != "-name" && w.Text != "-iname":
		case name != "" || i+1 == len(tests) || !tests[i+1].plain():
			return nil
		default:
			name = tests[i+1].Text
		}
	}
	if !ends() {
		return nil
	}
	return names
}

// named returns the files that ls lists. Its operands must be patterns with a file extension,
// because ls prints the contents of a directory.
func named(ls Command) (all []Word) {
	for _, w := range ls.Args() {
		switch name := path.Base(w.Text); {
		case w.Known && strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text, "-1trSd") == "":
		case w.Known && w.Glob && !w.Deep && strings.Contains(strings.TrimLeft(name, "."), ".") && !strings.ContainsAny(path.Ext(name), "*?["):
			all = append(all, w)
		default:
			return nil
		}
	}
	return all
}

// grepLetters are the options of grep that grepped interprets or can ignore.
var grepLetters = regexp.MustCompile(`^-[lLrRiwEFPsxvnhH]+$`)

// grepped returns the files that grep -l lists: its operands, or files below them.
func grepped(grep Command) (all []Word) {
	lists, deep, name, found := false, false, "*", false
	for _, w := range grep.Args() {
		include, only := strings.CutPrefix(w.Text, "--include=")
		switch {
		case !w.Known || w.Many:
			return nil
		case grepLetters.MatchString(w.Text):
			lists = lists || strings.ContainsAny(w.Text, "lL")
			deep = deep || strings.ContainsAny(w.Text, "rR")
		case only && name == "*" && !strings.Contains(include, "/"):
			name = include
		case strings.HasPrefix(w.Text, "-"):
			return nil
		case !found: // the search pattern
			found = true
		case deep:
			all = append(all, listed(Command{Words: []Word{{Text: "find", Known: true}, w, {Text: "-name", Known: true}, {Text: name, Known: true}}})...)
			if name == "*" && !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "~") && !strings.Contains(w.Text, "..") {
				all = append(all, Word{Text: "./" + path.Join(w.Text, "*"), Known: true, Glob: true, Deep: true})
			}
		default:
			all = append(all, w)
		}
	}
	if !lists {
		return nil
	}
	return all
}

// searched returns the files that rg lists. A glob narrows them to one name, and then includes
// hidden files.
func searched(rg Command) []Word {
	lists, glob := false, Word{}
	for i, w := range rg.Args() {
		switch {
		case unseen(w):
			return nil
		case w.Text == "--files" || w.Text == "-l" || w.Text == "--files-with-matches":
			lists = true
		case w.Text == "-g" || w.Text == "--glob":
			if glob.Text != "" || i+1 == len(rg.Args()) || strings.ContainsAny(rg.Args()[i+1].Text, "/!{") {
				return nil
			}
			glob = rg.Args()[i+1]
		}
	}
	switch {
	case !lists:
		return nil
	case glob.Text != "":
		glob.Glob = false // find expands it
		return listed(Command{Words: []Word{{Text: "find", Known: true}, {Text: ".", Known: true}, {Text: "-name", Known: true}, glob}})
	}
	return []Word{{Text: "./*", Known: true, Glob: true, Deep: true}}
}

// unseen reports whether an argument makes rg list hidden or ignored files, or files outside the
// directory.
func unseen(w Word) bool {
	return !w.Known || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "~") || strings.Contains(w.Text, "..") || strings.HasPrefix(w.Text, "--no-ignore") || strings.HasPrefix(w.Text, "--pre") || strings.HasPrefix(w.Text, "--type-add") || strings.HasPrefix(w.Text, "--glob=") || strings.HasPrefix(w.Text, "--iglob") || strings.HasPrefix(w.Text, "-g") && w.Text != "-g" ||
		w.Text == "--hidden" || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, "u.0f")
}
