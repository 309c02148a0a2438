package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// Patterns of arguments that the limits below check for.
var (
	showsEnvironment  = regexp.MustCompile(`^[a-zA-Z]*[eE]`)
	nullDevice        = regexp.MustCompile(`^/dev/(null|zero|u?random)$`)
	cloudSecret       = regexp.MustCompile(`(?i)secret|task-definition|instance-attribute|user-?data|parameter`)
	remote            = regexp.MustCompile(`^[^/]*:`)
	fromElsewhere     = regexp.MustCompile(`(?i)(^|@ ?)(git\+|git@|[a-z]+:/|github:|gitlab:|bitbucket:|file:)`)
	keyName           = regexp.MustCompile(`(?i)_auth|token|passw`)
	unsafePermissions = regexp.MustCompile(`^0?[0-7]?[0-7]?[0-7]?(777|666|000)$|^0?[2-7][0-7]{3}$|[+=][rwxX]*[st]|^(a|o|ugo|go)?[+=][rxX]*w`)
	guardNames        = regexp.MustCompile(`(?i)hook-?(router|worker|agent|ctl)|nats|h.{0,4}ook|:(4222|8222|6222)`)
	ofHooks           = regexp.MustCompile(`(?i)^(hook_?(router|agent|worker)|nats_)`)
	environment       = regexp.MustCompile(`ENVIRON|\$ENV|(^|[^.\w])(env|strenv|envsubst)\b`)
	remoteAddress     = regexp.MustCompile(`://`)
	readingVerb       = regexp.MustCompile(`^(list|describe|read)$`)
	alteringVerb      = regexp.MustCompile(`^(ssh|scp|deploy|delete|create|update|set|add|remove|submit|resize|apply|import|export|print.*|secrets|keys|call|execute|start|stop|reset)$`)
	updateVerb        = regexp.MustCompile(`^update$`)
	port              = regexp.MustCompile(`^:?\d+(/tcp|/udp)?$`)
	page              = regexp.MustCompile(`^(/tmp/)?[\w.-][\w./-]*\.(html?|pdf|png|svg|jpe?g|md|txt)$`)
	tellsEnvironment  = regexp.MustCompile(`(?i)env|config|json`)
	shortFlags        = regexp.MustCompile(`^-[n1tbqvE]+$`)
	logFile           = regexp.MustCompile(`^[\w./-]+\.log$`)
	scanOptions       = regexp.MustCompile(`^((-h|-p|-n) [\w.-]+ )*--scan( --(pattern|count) \S+)*$`)
	routerName        = regexp.MustCompile(`(?i)\brouter\b`)
	servers           = regexp.MustCompile(`^(postgres(ql)?|mysqld?|mariadbd?|mongod|redis-server|nginx|dockerd?|containerd|kubelet|systemd|sshd|launchd|WindowServer|Finder|loginwindow|Xorg)$`)
	shadow            = regexp.MustCompile(`shadow`)
	zeroVerb          = regexp.MustCompile(`^zero$`)
	foreignTable      = regexp.MustCompile(`(?i)\b(executable|url|urlCluster|file|remote\w*|s3\w*|hdfs|mysql|postgresql|mongodb|jdbc|odbc|sqlite|redis)\s*\(`)
	everyProcess      = regexp.MustCompile(`^1$|^[.^$*]+$`)
)

// limits are further conditions for known programs. A program passes if its function returns true.
var limits = map[string]func(shell.Command) bool{
	"curl": fetchesOnly, "wget": fetchesOnly,
	"psql": queriesOnly, "mysql": queriesOnly, "mariadb": queriesOnly, "sqlite3": queriesOnly, "duckdb": queriesOnly,
	"env":    shell.RunsCommand,
	"set":    func(c shell.Command) bool { return len(c.Args()) > 0 },
	"unset":  func(c shell.Command) bool { return !namesGuards(c) && !aimsAt(c, ofHooks) },
	"export": declaresVariables, "declare": declaresVariables, "typeset": declaresVariables, "readonly": declaresVariables, "trap": declaresVariables,
	":": emptiesOnlyLogs, "true": emptiesOnlyLogs,
	"ps":   showsProcesses,
	"java": runsOwn, "gh": func(c shell.Command) bool { return asksGitHub(c) && writesOwnRepository(c) && !approvesChange(c) }, "glab": writesOwnRepository,
	"patch": func(c shell.Command) bool { return shell.Option(c, "-e") == shell.No && hasLiteralArguments(c) },
	"journalctl": func(c shell.Command) bool {
		return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || journalChange.MatchString(w.Text) })
	},
	"terraform": masksSensitiveValues, "tofu": masksSensitiveValues,
	"bq":      func(c shell.Command) bool { return !slices.Contains(c.Verbs(1), "query") || queriesOnly(c) },
	"mongosh": func(c shell.Command) bool { return shell.Option(c, "--eval") == shell.Yes },
	"dig":     resolvesGivenNames, "nslookup": resolvesGivenNames, "host": hasLiteralArguments, "ping": hasLiteralArguments,
	"ab": loadsLocalhost, "hey": loadsLocalhost, "wrk": loadsLocalhost, "k6": loadsLocalhost, "ffmpeg": convertsLocally, "convert": showsNoScreen, "magick": showsNoScreen,
	"git":  safeGitCommand,
	"http": speaksHere(httpOptions, shell.Options{}), "https": speaksHere(httpOptions, shell.Options{}), "xh": speaksHere(httpOptions, shell.Options{}), "grpcurl": speaksHere(grpcOptions, grpcValues),
	"nc": func(c shell.Command) bool {
		return shell.Option(c, "-z") == shell.Yes && !c.MayHave("-c", "-e")
	},
	"mysqldump": func(c shell.Command) bool { return shell.Option(c, "--no-data") == shell.Yes },
	"tshark":    func(c shell.Command) bool { return shell.Option(c, "-r") == shell.Yes },
	"getent":    func(c shell.Command) bool { return !aimsAt(c, shadow) },
	"tcpdump":   func(c shell.Command) bool { return shell.Option(c, "-r") == shell.Yes },
	"promtool": func(c shell.Command) bool {
		return !aimsAt(c, remoteAddress) || c.AnyArg(addresses.Loopback)
	},
	"pg_dump": func(c shell.Command) bool {
		return shell.Option(c, "--schema-only") == shell.Yes || shell.Option(c, "-s") == shell.Yes
	},
	"deno": func(c shell.Command) bool { return !aimsAt(c, fromElsewhere) && wellKnown(c) },
	"cargo": func(c shell.Command) bool {
		return !c.MayHave("--git", "--index", "--registry") && wellKnown(c) &&
			(!slices.Contains(c.Verbs(1), "watch") || !c.MayHave("-s", "--shell") && !c.Has("--"))
	},
	"date": func(c shell.Command) bool {
		return !c.MayHave("-s", "--set")
	},
	"gcloud": func(c shell.Command) bool {
		verbs := c.Verbs(5)
		at := slices.IndexFunc(verbs, readingVerb.MatchString)
		return len(verbs) < 2 || verbs[0] == "config" && slices.Contains([]string{"list", "get-value", "get", "configurations"}, verbs[1]) || at > 0 && !slices.ContainsFunc(verbs[:at], alteringVerb.MatchString)
	},
	"manage.py": func(c shell.Command) bool { return !aimsAt(c, zeroVerb) },
	"console":   func(c shell.Command) bool { return !aimsAt(c, grave) && !aimsAt(c, tellsEnvironment) },
	"fuser":     func(c shell.Command) bool { return shell.Option(c, "-k") == shell.No || freesPorts(c) }, "kill-port": freesPorts,
	"websocat": func(c shell.Command) bool {
		words := operands(c)
		return len(words) == 1 && addresses.Loopback(words[0].Text) && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "-") && !shortFlags.MatchString(w.Text)
		})
	},
	"prisma": func(c shell.Command) bool {
		return !c.MayHave("--accept-data-loss", "--force-reset")
	},
	"dotnet": func(c shell.Command) bool {
		return !slices.Equal(c.Verbs(2), []string{"ef", "database"}) || aimsAt(c, updateVerb)
	},
	"clickhouse-client": func(c shell.Command) bool { return queriesOnly(c) && !aimsAt(c, foreignTable) }, "tmux": leavesSessions, "truncate": emptiesLogs, "redis-cli": scansOrAsks,
	"openssl": func(c shell.Command) bool {
		return !slices.Contains(c.Verbs(1), "s_client") || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return r.File.Text == "/dev/null" && !r.Write })
	},
	"ansible-playbook": func(c shell.Command) bool {
		return c.Has("--syntax-check", "--list-tasks", "--list-hosts", "--version")
	},
	"alembic": rollsBackOneStep, "knex": rollsBackOneStep, "mix": rollsBackOneStep, "artisan": rollsBackOneStep,
	"local": declaresVariables, "printenv": printsVariables,
	"gotestsum": func(c shell.Command) bool {
		return !c.AnyArg(func(text string) bool { return strings.HasPrefix(text, "--raw-command=") })
	},
	"make": printsNoVariables, "gmake": printsNoVariables,
	"http.server": servesProject, "http-server": servesProject, "serve": servesProject,
	"strace": tracesOwnProcess, "ltrace": tracesOwnProcess, "gdb": debugsOwnProcess,
	"cp":  func(c shell.Command) bool { return !aimsAt(c, nullDevice) },
	"tar": keepsSources, "bsdtar": keepsSources, "gtar": keepsSources,
	"zip": func(c shell.Command) bool { return shell.Option(c, "-m") == shell.No },
	"npm": installsFromRegistry, "pnpm": installsFromRegistry, "yarn": installsFromRegistry, "bun": installsFromRegistry, "pip": installsFromRegistry, "pip3": installsFromRegistry, "uv": installsFromRegistry, "pipenv": installsFromRegistry, "gem": installsFromRegistry, "pipx": installsFromRegistry, "go": func(c shell.Command) bool { return !namesTell(c) && wellKnown(c) }, "poetry": addsFromRegistry, "pdm": addsFromRegistry, "rye": addsFromRegistry, "pixi": addsFromRegistry, "conda": addsFromRegistry, "mamba": addsFromRegistry, "micromamba": addsFromRegistry, "npx": installsFromRegistry, "uvx": installsFromRegistry, "bunx": installsFromRegistry,
	"aws": func(c shell.Command) bool {
		return !aimsAt(c, cloudSecret) && (!slices.Equal(c.Verbs(2), []string{"s3", "cp"}) || copiesHere(c))
	},
	"open": opensLocalPages, "xdg-open": opensLocalPages, "code": installsNoExtension,
	"rsync": func(c shell.Command) bool { return !aimsAt(c, remote) },
	"awk":   readsNoEnvironment, "gawk": readsNoEnvironment, "mawk": readsNoEnvironment, "nawk": readsNoEnvironment, "jq": func(c shell.Command) bool { return readsNoEnvironment(c) && importsOwn(c) }, "yq": readsNoEnvironment,
	"chmod": setsSafePermissions, "chown": setsSafePermissions, "chgrp": setsSafePermissions, "docker": safeContainerCommand, "podman": safeContainerCommand, "docker-compose": safeContainerCommand,
	"kubectl": ofCluster,
	"hookctl": func(c shell.Command) bool { return len(c.Assigns) == 0 },
	"kill":    signalsOrdinaryProcesses, "pkill": signalsOrdinaryProcesses, "killall": signalsOrdinaryProcesses, "pgrep": signalsOrdinaryProcesses, "pidof": signalsOrdinaryProcesses,
}
