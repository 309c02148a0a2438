package shell

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// gitConfigRun are settings that name a command, or a file with more settings.
	gitConfigRun = regexp.MustCompile(`(?i)^(alias\.|core\.(pager|editor|sshcommand|hookspath|fsmonitor|askpass|gitproxy)|pager\.|diff\..*(command|external|textconv)|diff\.external|filter\.|merge\..*driver|sequence\.editor|credential\..*helper|.*\.(helper|cmd|program)|include)`)
	// gitConfigIdle are settings whose command does nothing but pass on its input.
	gitConfigIdle = regexp.MustCompile(`(?i)^(core\.(pager|editor)|sequence\.editor|pager\.\w+)=(cat|true|false|:|)$`)
	// gitConfigPlain are settings that, whatever their value, run nothing, name no other server and
	// open no other directory. Unknown settings are not among them.
	gitConfigPlain = regexp.MustCompile(`(?i)^((user\.(name|email|useconfigonly)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.\w+|rebase\.(autosquash|autostash|updaterefs|stat)` +
		`|merge\.(conflictstyle|ff|log|stat|renames|renamelimit)|diff\.(algorithm|renames|renamelimit|colormoved\w*|context|mnemonicprefix|noprefix|submodule|wserrorhighlight|indentheuristic|tool)|commit\.(gpgsign|verbose|status|cleanup)|tag\.(gpgsign|sort)` +
		`|core\.(autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|precomposeunicode|longpaths|symlinks|abbrev|whitespace|commentchar|excludesfile|compression|preloadindex|untrackedcache|fscache|sparsecheckout\w*|bigfilethreshold)` +
		`|http\.(postbuffer|version|lowspeed\w+|maxrequests)|protocol\.version|submodule\.(recurse|fetchjobs)|safe\.directory|help\.autocorrect|blame\.\w+|branch\.[^=]+\.(merge|rebase|description)|remote\.[^=]+\.(fetch|prune|tagopt)|gc\.auto\w*|gc\.\w*expire|lfs\.(locksverify|fetch\w+|concurrent\w+|skip\w+))$` +
		`|(color|advice|column|log|status|rerere|pack|feature|index|grep|stash|versionsort|format)\.[^=]+$)`)
)

// gitConfig looks for settings of git that name a command, and for unknown settings that are set.
func (c *Command) gitConfig(args []Word) {
	if at := slices.IndexFunc(args, func(w Word) bool { return w.Text == "run" }); at >= 0 && c.Verb() == "bisect" {
		args = args[:at] // the rest is another command
	}
	set := gitSets(args)
	for i, a := range args {
		key, given := a.Text, i > 0 && (args[i-1].Text == "-c" || args[i-1].Text == "--config" || slices.ContainsFunc(args[:i], func(w Word) bool { return w.Text == "config" }))
		value := i == set || i > 0 && given && args[i-1].Text != "config" && slices.Contains([]string{"-c", "--config"}, args[i-1].Text) && strings.Contains(key, "=")
		for _, option := range []string{"--config-env=", "--config=", "-c"} {
			if joined, is := strings.CutPrefix(key, option); is && !given {
				key, given, value = joined, true, strings.Contains(joined, "=")
			}
		}
		name, _, _ := strings.Cut(key, "=")
		switch {
		case given && value && gitConfigIdle.MatchString(key):
		case given && gitConfigRun.MatchString(key):
			c.doubt("git is told to run a command: " + clip(key))
		case given && value && strings.Contains(name, ".") && !gitConfigPlain.MatchString(name):
			c.doubt("what git does with this setting is not known: " + clip(name))
		}
	}
}

// gitSets returns the index of the name that git config sets, or -1.
func gitSets(args []Word) int {
	verb := Command{Words: append([]Word{{Text: "git", Known: true}}, args...)}.Verb()
	at := slices.IndexFunc(args, func(w Word) bool { return w.Text == "config" })
	if verb != "config" || at < 0 {
		return -1
	}
	names := 0
	for a := range configOptions.In(args[at+1:]) {
		switch {
		case strings.HasPrefix(a.Text, "--get"), strings.HasPrefix(a.Text, "--unset"), a.Text == "-l", a.Text == "--list",
			names == 0 && slices.Contains([]string{"get", "list", "unset"}, a.Text):
			return -1
		case a.Name != "", names == 0 && a.Text == "set":
		case names == 0:
			names, at = 1, len(args)-len(a.From)
		default:
			names++
		}
	}
	if names < 2 {
		return -1
	}
	return at
}

// configOptions are the options of git config that take a value.
var configOptions = Options{Long: "-f= --file= --blob= --type= --default= --comment= --value="}
