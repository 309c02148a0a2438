package commandguard

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// rule is a built-in rule.
type rule struct {
	decision decision.Decision
	reason   string // follows "denied: " and "it may be that "
	holds    func(c shell.Command) shell.Found
}

// builtIn returns the rule that a command matches. A certain match takes precedence.
func builtIn(c shell.Command) (rule, shell.Found) {
	var worst rule
	found := shell.No
	for _, r := range rules() {
		if f := r.holds(c); f > found {
			worst, found = r, f
		}
	}
	return worst, found
}

var rules = sync.OnceValue(func() []rule {
	all := []rule{
		{decision.Deny, "it removes directories of the system or a whole home", removesRoot},
		{decision.Deny, "it gives directories of the system other rights or owners", changesRoot},
		{decision.Deny, "it writes to a disk past its file system", writesDisk},
		{decision.Deny, "it runs what it downloads without anybody having read it", runsDownload},
		{decision.Deny, "it overwrites the history of a remote branch", pushesByForce},
		{decision.Deny, "it asks the cloud for the keys of this machine", asksMetadata},
		{decision.Deny, "it speaks to the router past its hooks", answersItself},
		{decision.Deny, "it touches the router's containers", touchesRouter},
		{decision.Ask, "it speaks to what starts this machine's containers or keeps its secrets", controlsMachine},
		{decision.Ask, "it may speak to the router past its hooks", mayReachRouter},
		{decision.Ask, "it removes all that is in a directory", removesHere},
		{decision.Ask, "it removes what the project is made of", removesSources},
		{decision.Ask, "it empties files", blanks},
		{decision.Ask, "it makes a file that gives its owner's rights to whoever runs it", setsID},
		{decision.Ask, "it stops every process", killsAll},
		{decision.Ask, "it looks for keys", searchesKeys},
		{decision.Ask, "it throws changes away that git can't bring back", restoresAll},
		{decision.Ask, "it publishes a package", runsTwine},
		{decision.Ask, "it runs what the same line brings from elsewhere", runsForeign},
	}
	first := len(all)
	for reason, list := range askedAbout {
		for _, p := range decision.MustPatterns(shell.ParsePattern, list...) {
			all = append(all, rule{decision.Ask, reason, unlessRehearsed(p.In)})
		}
	}
	slices.SortStableFunc(all[first:], func(a, b rule) int { return strings.Compare(a.reason, b.reason) })
	return all
})

// publishing are programs that support publish --dry-run.
var publishing = strings.Fields("npm pnpm yarn cargo uv poetry")

// unlessRehearsed returns a rule that does not apply to a dry run.
func unlessRehearsed(holds func(shell.Command) shell.Found) func(shell.Command) shell.Found {
	return func(c shell.Command) shell.Found {
		if publishesNothing(c) {
			return shell.No
		}
		return holds(c)
	}
}

func publishesNothing(c shell.Command) bool {
	return slices.Contains(publishing, c.Name()) && c.Verb() == "publish" && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return w.Known && w.Text == "--dry-run" }) &&
		!slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return w.Text == "--" || strings.HasPrefix(w.Text, "--dry-run=") || strings.HasPrefix(w.Text, "--no-dry-run")
		})
}

// askedAbout are the commands that need approval, by reason.
var askedAbout = map[string][]string{
	"it throws changes away that git can't bring back": {
		"git reset --hard", "git reset --merge", "git clean -f", "git clean --force", "git checkout .", "git stash clear", "git stash drop", "git branch -D",
		"git filter-branch", "git filter-repo", "git update-ref -d", "git reflog expire",
	},
	"it removes a branch or tag of a remote":      {"git push --delete", "git push -d", "git push --prune", "git push * :*"},
	"it gives an agent further tools":             {"claude mcp add", "claude mcp add-json", "codex mcp add", "gemini mcp add"},
	"it stops the machine":                        {"shutdown", "reboot", "halt", "poweroff", "init 0", "init 6", "systemctl poweroff", "systemctl reboot", "systemctl halt"},
	"it stops every process":                      {"killall5", "pkill -f .", "pkill -f ^"},
	"it changes who may log in":                   {"useradd", "userdel", "usermod", "passwd", "chpasswd", "visudo", "adduser", "deluser"},
	"it changes what runs by itself":              {"crontab -r", "crontab -e", "launchctl load", "systemctl enable", "systemctl disable", "systemctl mask"},
	"it changes the firewall":                     {"iptables", "ip6tables", "nft", "ufw"},
	"it removes what runs in a cluster or cloud":  {"kubectl delete", "helm uninstall", "terraform destroy", "terraform apply", "tofu destroy", "pulumi destroy", "aws * delete-*", "aws s3 rb", "aws s3 rm --recursive", "gcloud * delete"},
	"it removes containers, images or volumes":    {"docker system prune", "docker volume rm", "docker volume prune", "podman system prune", "podman system reset"},
	"it removes files by a command of Windows":    {"del", "erase", "rd", "format", "diskpart"},
	"it overwrites files so that nothing is left": {"shred", "srm"},
	"it publishes a package": {
		"npm publish", "yarn publish", "yarn npm publish", "pnpm publish", "bun publish", "deno publish", "jsr publish", "cargo publish", "gem push", "dotnet nuget push", "nuget push",
		"twine upload", "poetry publish", "uv publish", "hatch publish", "flit publish", "pdm publish", "maturin publish", "maturin upload",
	},
	"it mines coins":                      {"xmrig", "minerd", "cpuminer", "ccminer", "ethminer", "nbminer"},
	"it hides what was done":              {"history -c", "unset HISTFILE"},
	"it gives a program rights of root":   {"setcap"},
	"it loads code into the kernel":       {"insmod", "modprobe", "rmmod", "kexec"},
	"it mounts or unmounts a file system": {"mount", "umount", "swapoff", "losetup", "cryptsetup"},
}

// harmless are the commands that pass if nothing else is allowed: those that read and print, and
// wrappers whose command is evaluated itself.
var harmless = sync.OnceValue(func() []shell.Pattern {
	return decision.MustPatterns(shell.ParsePattern,
		"ls *", "pwd", "echo *", "printf *", "true", "false", ": *", "test *", "[ *", "cat *", "head *", "tail *", "wc *", "grep *", "egrep *", "fgrep *", "cut *",
		"tr *", "nl *", "tac *", "basename *", "dirname *", "realpath *", "readlink *", "stat *", "file *", "du *", "df *", "which *", "type *", "whoami", "id *",
		"uname *", "hostname", "date", "uptime", "ps *", "diff *", "cmp *", "comm *", "cd *", "sleep *", "sha256sum *", "md5sum *", "jq *", "tree",
		"git status *", "git diff", "git diff --stat *", "git log", "git log --oneline *", "git show", "git branch", "git rev-parse *", "git ls-files *", "git remote -v",
		"go version", "go env", "go vet *", "node --version", "python --version", "python3 --version", "time *", "nice *", "timeout *", "nohup *", "command *", "builtin *",
	)
})

func changesRoot(c shell.Command) shell.Found {
	switch c.Name() {
	case "chmod", "chown", "chgrp", "chattr", "setfacl", "icacls", "takeown":
		return rootsBelow(c)
	}
	return shell.No
}

// everyNumber matches a substitution that prints the IDs of all processes.
var everyNumber = regexp.MustCompile(`^\$\(\s*ps( +(-[eAaxo]+|[aux]+|-o *\w+=?|\w+=))*\s*(\|\s*awk\s+'\{\s*print \$\d+;?\s*\}'\s*)?\)$`)

// killsAll finds a kill of all processes. -1 means all processes, except as the first argument,
// where it is a signal.
func killsAll(c shell.Command) shell.Found {
	args := c.Args()
	if c.Name() == "kill" && c.AnyArg(everyNumber.MatchString) {
		return shell.Yes
	}
	return shell.FoundIf(c.Name() == "kill" && slices.ContainsFunc(args[min(1, len(args)):], func(w shell.Word) bool { return w.Text == "-1" }))
}

var restore = decision.MustPatterns(shell.ParsePattern, "git restore .")[0]

// restoresAll finds a git restore of the whole working tree. Restoring only the index keeps the
// files.
func restoresAll(c shell.Command) shell.Found {
	staged := c.Has("--staged", "-S")
	if staged && !c.MayHave("--worktree", "-W") {
		return shell.No
	}
	return restore.In(c)
}

var twine = decision.MustPatterns(shell.ParsePattern, "twine upload")[0]

// runsTwine finds twine upload run as a module: python -m twine upload.
func runsTwine(c shell.Command) shell.Found {
	if inner := module(c); len(inner.Words) < len(c.Words) {
		return twine.In(inner)
	}
	return shell.No
}

var downloads = []string{"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "invoke-webrequest", "iwr", "lwp-download", "nc", "ncat", "netcat", "ftp", "scp"}

func runsDownload(c shell.Command) shell.Found {
	return shell.FoundIf(slices.ContainsFunc(c.Runs, func(name string) bool { return slices.Contains(downloads, name) }))
}

func pushesByForce(c shell.Command) shell.Found {
	if verb := c.Verb(); c.Name() != "git" || verb != "" && verb != "push" {
		return shell.No
	}
	at := slices.IndexFunc(c.Args(), func(w shell.Word) bool { return !w.Known || w.Text == "push" })
	if at < 0 {
		return shell.No
	}
	push := c.Args()[at]
	c.Words = append([]shell.Word{c.Words[0]}, c.Args()[at+1:]...)
	found := max(shell.Option(c, "--force"), shell.Option(c, "-f"), shell.Option(c, "--mirror"))
	if c.AnyArg(func(text string) bool { return strings.HasPrefix(text, "+") }) {
		found = shell.Yes
	}
	if !push.Known {
		found = min(found, shell.Maybe)
	}
	return found
}
