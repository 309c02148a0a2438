package flowguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/guards/wordset"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ofShell returns the flow of a shell command.
func (g guard) ofShell(ev events.Event, tool events.Tool) flow {
	f := flow{secret: g.secrets(ev, tool), untrusted: g.foreign(ev, tool), same: true}
	if tool.Partial {
		f.egress, f.what = shell.Maybe, "runs a command that can't be read"
	}
	if tool.Command == "" {
		return f
	}
	script := shell.Parse(tool.Command, tool.Cwd)
	if len(script.Doubts) > 0 {
		f.egress, f.what = shell.Maybe, "runs what can't be known before"
	}
	for _, c := range script.Commands {
		out := sends(c)
		if out > f.egress {
			f.egress, f.what = out, "runs "+decision.Clip(c.Name(), 40)+", which "+map[shell.Found]string{shell.Maybe: "may send", shell.Yes: "sends"}[out]+" something out"
		}
		f.secret = f.secret || prints(c) || mentions(c, tool.Command) || looksUp(c) || out != shell.Yes && expands(c)
		f.untrusted = f.untrusted || out == shell.Yes && fetches[c.Name()]
	}
	if f.egress != shell.Yes {
		g.writes(&f, ev, tool)
	}
	return f
}

// Programs by their access to other machines. Another agent counts as one, because it has its own
// session, which begins without labels.
var (
	fetches = wordset.Of("curl wget aria2c http https httpie xh lynx w3m links elinks gh glab hub nc ncat netcat socat telnet ftp sftp scp ssh rclone mail mutt")
	senders = wordset.Of(`curl wget aria2c http https httpie xh lynx w3m links elinks gh glab hub nc ncat netcat socat telnet ftp sftp scp ssh rclone
		mail mailx mutt sendmail msmtp swaks s3cmd gsutil aws az gcloud doctl heroku flyctl fly vercel netlify wrangler firebase
		dig nslookup host drill ping traceroute tracepath whois finger nmap kubectl helm oc argocd terraform tofu pulumi ansible ansible-playbook
		twine mongosh mongo redis-cli nats wscat websocat grpcurl ngrok cloudflared tailscale open xdg-open osascript at batch crontab
		systemd-run git-send-email claude codex gemini goose copilot qwen opencode crush aider amp cursor-agent hook-agent hookctl`)
	sending = map[string]map[string]bool{
		"git": wordset.Of("push send-email request-pull instaweb daemon svn imap-send"), "npm": wordset.Of("publish login adduser token owner"), "pnpm": wordset.Of("publish login"),
		"yarn": wordset.Of("publish npm login"), "cargo": wordset.Of("publish login owner"), "docker": wordset.Of("push login"), "podman": wordset.Of("push login"),
		"gem": wordset.Of("push owner"), "poetry": wordset.Of("publish"), "uv": wordset.Of("publish"), "hatch": wordset.Of("publish"), "go": wordset.Of(""), "dotnet": wordset.Of("nuget"),
	}
	// local are programs that never send anything to another machine.
	local = wordset.Of(`ls dir pwd cd pushd popd echo printf true false : test [ [[ cat head tail wc grep egrep fgrep rg ag cut paste tr nl tac rev column fold basename
		dirname realpath readlink stat file du df which type whoami id groups uname hostname date cal ps pgrep diff cmp comm sleep seq expr bc
		sha1sum sha256sum sha512sum shasum md5sum md5 cksum xxd od hexdump strings base64 jq yq tree sort uniq shuf join cp mv rm rmdir mkdir touch ln
		chmod tee sed gsed mktemp gzip gunzip zip unzip xz zstd tar less more set export unset local declare readonly read return exit break continue
		wait jobs shift kill printenv env find fd time timeout nice nohup command exec xargs gofmt prettier`)
	localVerbs = map[string]map[string]bool{
		"git": wordset.Of("add annotate bisect blame branch cat-file checkout cherry-pick clean commit config describe diff grep init log ls-files ls-tree merge mv notes rebase reflog reset restore rev-list rev-parse revert rm shortlog show show-ref stash status switch tag worktree"),
		"go":  wordset.Of("build vet fmt version env doc list"),
	}
	remote = regexp.MustCompile(`^[\w.-]+@[\w.-]+:|^[\w-]+(\.[\w-]+)+:[^\\]`)
)

// sends reports whether a command sends something to another machine.
func sends(c shell.Command) shell.Found {
	if c.Connects() {
		return shell.Yes
	}
	if len(c.Words) == 0 {
		return shell.No
	}
	name, verb := c.Name(), c.Verb()
	switch {
	case name == "":
		return shell.Maybe
	case name == "curl" && len(c.Assigns) == 0 && toItself(c): // HOME determines where its settings are
		return shell.No
	case senders[name], sending[name][verb], addressed(c):
		return shell.Yes
	case len(c.Doubts) > 0:
		return shell.Maybe
	case stays(c):
		return shell.No
	}
	return shell.Maybe
}

// Sends reports whether a command line certainly sends something to another machine.
func Sends(line, cwd string) bool {
	return slices.ContainsFunc(shell.Parse(line, cwd).Commands, func(c shell.Command) bool { return sends(c) == shell.Yes })
}

// stays reports whether a command certainly sends nothing to another machine.
func stays(c shell.Command) bool {
	name := c.Name()
	known := local[name] && !strings.Contains(c.Words[0].Text, "/") || localVerbs[name][c.Verb()]
	return known && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return reaching.MatchString(w.Text) || away[name] != nil && away[name].MatchString(w.Text)
	})
}

// reaching matches a path on another machine, in the notation of Windows.
var reaching = regexp.MustCompile(`^(//|\\\\)[\w-]`)

// away matches arguments with which local programs access other machines or run other programs.
var away = map[string]*regexp.Regexp{
	"go":       regexp.MustCompile(`@|^[\w-]+(\.[\w-]+)+/|^--?(m|versions|u|w|mod=mod)$`),
	"tar":      regexp.MustCompile(`^(-\w*f|--file=)?[\w.@-]{2,}:`),
	"ag":       regexp.MustCompile(`^--pager`),
	"rg":       regexp.MustCompile(`^--hostname-bin`),
	"prettier": regexp.MustCompile(`^--(plugin|config)`),
}

// addressed reports whether an argument of a program that is not known to be local is an address on
// another machine.
func addressed(c shell.Command) bool {
	return !stays(c) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return addresses.Names(w.Text) && !(w.Known && addresses.Loopback(w.Text)) || remote.MatchString(w.Text)
	})
}

// toItself reports whether curl requests only this machine, with options that do not change the
// destination.
func toItself(c shell.Command) bool {
	asked := false
	for a := range ownRequest.In(c.Args()) {
		switch {
		case !a.Known:
			return false
		case a.Listed && !a.Joined:
		case addresses.Loopback(a.Text):
			asked = true
		default:
			return false
		}
	}
	return asked
}

var ownRequest = shell.Options{Long: "-X= --request= -H= --header= -d= --data= --data-raw= --json= -o= --max-time= -m= -s -S -sS -f -i -v -I -fsS -sf -si -G --silent --fail"}
