package commandguard

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// What arguments of these look like that are asked about.
var (
	showsEnvironment = regexp.MustCompile(`^[a-zA-Z]*[eE]`)
	nothing          = regexp.MustCompile(`^/dev/(null|zero|u?random)$`)
	cloudSecret      = regexp.MustCompile(`(?i)secret|task-definition|instance-attribute|user-?data|parameter`)
	remote           = regexp.MustCompile(`^[^/]*:`)
	fromElsewhere    = regexp.MustCompile(`(?i)^(git\+|git@|[a-z]+:/|github:|gitlab:|bitbucket:|file:)`)
	keyName          = regexp.MustCompile(`(?i)_auth|token|passw`)
	immodest         = regexp.MustCompile(`^0?[0-7]?[0-7]?[0-7]?(777|666|000)$|^0?[2-7][0-7]{3}$|[+=][rwxX]*[st]|^(a|o|ugo|go)?[+=][rxX]*w`)
	guarding         = regexp.MustCompile(`(?i)hook-?(router|worker|agent|ctl)|nats|h.{0,4}ook|:(4222|8222|6222)`)
	ofHooks          = regexp.MustCompile(`(?i)^(hook_?router|nats_)`)
	environment      = regexp.MustCompile(`ENVIRON|\$ENV|(^|[^.\w])(env|strenv|envsubst)\b`)
	remoteAddress    = regexp.MustCompile(`://`)
	looks            = regexp.MustCompile(`^(list|describe|read)$`)
	alters           = regexp.MustCompile(`^(ssh|scp|deploy|delete|create|update|set|add|remove|submit|resize|apply|import|export|print.*|secrets|keys|call|execute|start|stop|reset)$`)
	updates          = regexp.MustCompile(`^update$`)
	port             = regexp.MustCompile(`^:?\d+(/tcp|/udp)?$`)
	page             = regexp.MustCompile(`^(/tmp/)?[\w.-][\w./-]*\.(html?|pdf|png|svg|jpe?g|md|txt)$`)
	tellsEnvironment = regexp.MustCompile(`(?i)env|config|json`)
	shortFlags       = regexp.MustCompile(`^-[n1tbqvE]+$`)
	logFile          = regexp.MustCompile(`^[\w./-]+\.log$`)
	scans            = regexp.MustCompile(`^((-h|-p|-n) [\w.-]+ )*--scan( --(pattern|count) \S+)*$`)
	routerName       = regexp.MustCompile(`(?i)\brouter\b`)
	servers          = regexp.MustCompile(`^(postgres(ql)?|mysqld?|mariadbd?|mongod|redis-server|nginx|dockerd?|containerd|kubelet|systemd|sshd|launchd|WindowServer|Finder|loginwindow|Xorg)$`)
	zero             = regexp.MustCompile(`^zero$`)
	everyProcess     = regexp.MustCompile(`^1$|^[.^$*]+$`)
)

// limits say of programs of everyday development when they pass.
var limits = map[string]func(shell.Command) bool{
	"curl": fetches, "wget": fetches,
	"psql": queries, "mysql": queries, "mariadb": queries, "sqlite3": queries, "duckdb": queries,
	"env":    wraps,
	"set":    func(c shell.Command) bool { return len(c.Args()) > 0 },
	"unset":  func(c shell.Command) bool { return !guards(c) && !aimsAt(c, ofHooks) },
	"export": declares, "declare": declares, "typeset": declares, "readonly": declares, "trap": declares,
	":": prints, "true": prints,
	"ps":   showsProcesses,
	"java": runsOwn, "gh": func(c shell.Command) bool { return asksGitHub(c) && writesOwnRepository(c) },
	"patch": func(c shell.Command) bool { return shell.Option(c, "-e") == shell.No && plain(c) },
	"journalctl": func(c shell.Command) bool {
		return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || tidies.MatchString(w.Text) })
	},
	"terraform": masks, "tofu": masks,
	"bq":      func(c shell.Command) bool { return !slices.Contains(c.Verbs(1), "query") || queries(c) },
	"mongosh": func(c shell.Command) bool { return shell.Option(c, "--eval") == shell.Yes },
	"dig":     resolvesGivenNames, "nslookup": resolvesGivenNames, "host": plain, "ping": plain,
	"ab": loadsLocalhost, "hey": loadsLocalhost, "wrk": loadsLocalhost, "k6": loadsLocalhost, "ffmpeg": convertsLocally,
	"git":  pushes,
	"http": speaksHere(httpOptions, nil), "https": speaksHere(httpOptions, nil), "xh": speaksHere(httpOptions, nil), "grpcurl": speaksHere(grpcOptions, grpcValues),
	"nc":        func(c shell.Command) bool { return shell.Option(c, "-z") == shell.Yes },
	"mysqldump": func(c shell.Command) bool { return shell.Option(c, "--no-data") == shell.Yes },
	"tcpdump":   func(c shell.Command) bool { return shell.Option(c, "-r") == shell.Yes },
	"promtool": func(c shell.Command) bool {
		return !aimsAt(c, remoteAddress) || slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return addresses.Loopback(w.Text) })
	},
	"pg_dump": func(c shell.Command) bool {
		return shell.Option(c, "--schema-only") == shell.Yes || shell.Option(c, "-s") == shell.Yes
	},
	"deno": func(c shell.Command) bool { return !aimsAt(c, fromElsewhere) && wellKnown(c) },
	"cargo": func(c shell.Command) bool {
		return shell.Option(c, "--git") == shell.No && shell.Option(c, "--index") == shell.No && shell.Option(c, "--registry") == shell.No && wellKnown(c) &&
			(!slices.Contains(c.Verbs(1), "watch") || shell.Option(c, "-s") == shell.No && shell.Option(c, "--shell") == shell.No)
	},
	"date": func(c shell.Command) bool {
		return shell.Option(c, "-s") == shell.No && shell.Option(c, "--set") == shell.No
	},
	"gcloud": func(c shell.Command) bool {
		told := c.Verbs(5)
		at := slices.IndexFunc(told, looks.MatchString)
		return len(told) < 2 || told[0] == "config" && slices.Contains([]string{"list", "get-value", "get", "configurations"}, told[1]) || at > 0 && !slices.ContainsFunc(told[:at], alters.MatchString)
	},
	"manage.py": func(c shell.Command) bool { return !aimsAt(c, zero) },
	"console":   func(c shell.Command) bool { return !aimsAt(c, grave) && !aimsAt(c, tellsEnvironment) },
	"fuser":     func(c shell.Command) bool { return shell.Option(c, "-k") == shell.No || freesPorts(c) }, "kill-port": freesPorts,
	"websocat": func(c shell.Command) bool {
		words := operands(c)
		return len(words) == 1 && addresses.Loopback(words[0].Text) && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "-") && !shortFlags.MatchString(w.Text)
		})
	},
	"prisma": func(c shell.Command) bool {
		return shell.Option(c, "--accept-data-loss") == shell.No && shell.Option(c, "--force-reset") == shell.No
	},
	"dotnet": func(c shell.Command) bool {
		return !slices.Equal(c.Verbs(2), []string{"ef", "database"}) || aimsAt(c, updates)
	},
	"clickhouse-client": queries, "truncate": emptiesLogs, "redis-cli": scansOrAsks,
	"openssl": func(c shell.Command) bool {
		return !slices.Contains(c.Verbs(1), "s_client") || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return r.File.Text == "/dev/null" && !r.Write })
	},
	"ansible-playbook": func(c shell.Command) bool {
		return slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return slices.Contains(strings.Fields("--syntax-check --list-tasks --list-hosts --version"), w.Text)
		})
	},
	"alembic": rollsBack, "knex": rollsBack, "mix": rollsBack, "artisan": rollsBack,
	"local": declares, "printenv": printsVariables,
	"make": describes, "gmake": describes,
	"http.server": serves,
	"strace":      traces, "ltrace": traces, "gdb": debugs,
	"cp":  func(c shell.Command) bool { return !aimsAt(c, nothing) },
	"tar": keeps, "bsdtar": keeps, "gtar": keeps,
	"zip": func(c shell.Command) bool { return shell.Option(c, "-m") == shell.No },
	"npm": installs, "pnpm": installs, "yarn": installs, "bun": installs, "pip": installs, "pip3": installs, "uv": installs, "pipenv": installs, "gem": installs, "pipx": installs, "go": func(c shell.Command) bool { return !namesTell(c) && wellKnown(c) }, "npx": installs, "uvx": installs, "bunx": installs,
	"aws": func(c shell.Command) bool {
		return !aimsAt(c, cloudSecret) && (!slices.Equal(c.Verbs(2), []string{"s3", "cp"}) || copiesHere(c))
	},
	"open": opens, "xdg-open": opens, "code": edits,
	"rsync": func(c shell.Command) bool { return !aimsAt(c, remote) },
	"awk":   variables, "gawk": variables, "mawk": variables, "nawk": variables, "jq": variables, "yq": variables,
	"chmod": modest, "chown": modest, "chgrp": modest, "docker": contains, "podman": contains, "docker-compose": contains,
	"kubectl": ofCluster,
	"hookctl": func(c shell.Command) bool { return len(c.Assigns) == 0 },
	"kill":    spares, "pkill": spares, "killall": spares, "pgrep": spares, "pidof": spares,
}

// emptiesLogs: truncate -s 0 of logs of the project.
func emptiesLogs(c shell.Command) bool {
	args := c.Args()
	return len(args) > 2 && args[0].Text == "-s" && args[1].Text == "0" && !slices.ContainsFunc(args[2:], func(w shell.Word) bool {
		return !w.Known || !logFile.MatchString(w.Text) || !ownFile(w.Text, c.Dirs)
	})
}

// scansOrAsks: --scan lists keys, and is no verb; it passes alone.
func scansOrAsks(c shell.Command) bool {
	if shell.Option(c, "--scan") != shell.Yes {
		return true
	}
	var texts []string
	for _, w := range c.Args() {
		if !w.Known {
			return false
		}
		texts = append(texts, w.Text)
	}
	return scans.MatchString(strings.Join(texts, " "))
}

// copiesHere reports whether aws s3 cp copies from there to here.
func copiesHere(c shell.Command) bool {
	words := operands(c)
	from := words[slices.IndexFunc(words, func(w shell.Word) bool { return w.Text == "cp" })+1:]
	return len(from) > 1 && strings.HasPrefix(from[0].Text, "s3://") && !slices.ContainsFunc(from[1:], func(w shell.Word) bool { return strings.Contains(w.Text, "://") || !w.Known })
}

// freesPorts: other servers than those of a project have ports that everybody knows.
func freesPorts(c shell.Command) bool {
	return !slices.ContainsFunc(operands(c), func(w shell.Word) bool { return !port.MatchString(w.Text) || othersPort.MatchString(w.Text) })
}

var othersPort = regexp.MustCompile(`^:?(` + othersPorts + `)(/|$)`)

// wraps: env without a command prints what it has.
func wraps(c shell.Command) bool {
	valued := false
	return slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		value := valued
		valued = slices.Contains([]string{"-u", "--unset", "-C", "--chdir"}, w.Text)
		return !value && !strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, "=")
	})
}

// tidies are options of journalctl that change what it keeps.
var tidies = regexp.MustCompile(`^--(vac|rot|flu|relinq|smart|syn|setup|upd)`)

// masks: other than in JSON, terraform show prints no value that is marked as sensitive.
func masks(c shell.Command) bool {
	return !slices.Contains(c.Verbs(1), "show") || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || strings.Contains(w.Text, "-json") })
}

// installs: packages come from a registry, and from the usual one.
func installs(c shell.Command) bool {
	return !aimsAt(upToProgram(c), fromElsewhere) && !namesTell(c) && wellKnown(c) && knownExtras(c) && (!slices.Contains(c.Verbs(1), "config") || !aimsAt(c, keyName)) &&
		!slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return elsewhere.MatchString(w.Text) })
}

var elsewhere = regexp.MustCompile(`^--(index-url|extra-index-url|registry|trusted-host)(=|$)`)

// modest: modes that let everybody write, or take a file's owner along, and what a whole
// project is given are asked about.
func modest(c shell.Command) bool {
	return !aimsAt(c, immodest) &&
		(recursive(c) == shell.No || here(c) == shell.No && !lockingMode.MatchString(firstArgument(c)) && (c.Name() == "chmod" || !systemOwner.MatchString(firstArgument(c))))
}

var (
	// lockingMode are modes after which the owner can read what a directory holds.
	lockingMode = regexp.MustCompile(`^(a|u|ug|ugo|)(-[wX]*[rx][rwxX]*|=[wX]*)(,|$)|^0?[0-3][0-7]{2}$`)
	// systemOwner are owners that are accounts of the machine.
	systemOwner = regexp.MustCompile(`^(root|nobody|daemon|bin|sys|0|65534)(:|$)`)
)

func firstArgument(c shell.Command) string {
	for _, w := range c.Args() {
		if !w.Known || w.Text != "-R" && w.Text != "--recursive" && w.Text != "-v" {
			return w.Text
		}
	}
	return ""
}

// guards reports whether a command names what guards the agent.
func guards(c shell.Command) bool {
	return aimsAt(c, guarding)
}

// plain: no word is made of what a command prints or a variable holds, which the network
// would be told.
func plain(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || strings.ContainsAny(w.Text, "`") || strings.Contains(w.Text, "$(")
	})
}

// declares: without a name all variables are printed.
func declares(c shell.Command) bool {
	return !aimsAt(c, ofHooks) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !strings.HasPrefix(w.Text, "-") })
}

// variables: what a filter prints are no variables of the environment.
func variables(c shell.Command) bool {
	return !aimsAt(c, environment)
}

var printsBase = regexp.MustCompile(`^-[a-zA-Z]*p[a-zA-Z]*$|^--print-d`)

// describes: make -p prints all variables, and what stands in $( ) is a function of make.
func describes(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return printsBase.MatchString(w.Text) || w.Known && strings.Contains(w.Text, "$(") // make would run it
	})
}

// serves: a directory of the project.
func serves(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		_, value, _ := strings.Cut("="+w.Text, "=")
		value = value[strings.LastIndexByte(value, '=')+1:]
		return !w.Known || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.HasPrefix(value, "..")
	})
}

// traces: a process that runs already may be another's.
func traces(c shell.Command) bool { return shell.Option(c, "-p") == shell.No }

// debugs: a process that runs already, or what is left of one, may hold another's secrets.
func debugs(c shell.Command) bool {
	return shell.Option(c, "-batch") == shell.Yes && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return attaches.MatchString(w.Text) })
}

var attaches = regexp.MustCompile(`^--?(p|pid|c|core|x|command|ix|iex|init-\w+|cd|d|directory)(=|$)`)

// rollsBack: what migrations took back by steps comes again by them, but not all that there was.
func rollsBack(c shell.Command) bool {
	back := slices.ContainsFunc(c.Verbs(1), func(v string) bool { return v == "downgrade" || strings.Contains(v, "rollback") })
	return !back || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || w.Text == "--all" || strings.HasPrefix(w.Text, "--to") || w.Text == "base" || c.Name() == "alembic" && len(c.Verbs(2)) > 1
	})
}

// printsVariables: printenv prints those that it is given the names of, else all.
func printsVariables(c shell.Command) bool {
	return len(c.Args()) > 0 && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || !variableName.MatchString(w.Text) || secretVariable.MatchString(w.Text)
	})
}

var secretVariable = regexp.MustCompile(`(?i)key|token|secret|pass|cred|auth|_url|dsn|cookie|session|hook`)

// keeps: what tar has stored stays.
func keeps(c shell.Command) bool { return shell.Option(c, "--remove-files") == shell.No }

// edits: an extension of an editor is foreign code.
func edits(c shell.Command) bool { return shell.Option(c, "--install-extension*") == shell.No }

// opens: a page of this machine.
func opens(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !addresses.Loopback(w.Text) && !page.MatchString(w.Text) })
}

// prints: what prints nothing empties the file that it writes to; logs of the project may be emptied.
func prints(c shell.Command) bool {
	return !slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool {
		return r.Write && r.File.Text != "/dev/null" && (!r.File.Known || !logFile.MatchString(r.File.Text) || !ownFile(r.File.Text, c.Dirs))
	})
}

// spares reports whether a command stops or looks for other processes than the first one,
// all of a user, and those that guard the agent.
func spares(c shell.Command) bool {
	return !guards(c) && !aimsAt(c, everyProcess) && !aimsAt(c, servers) && !aimsAt(c, routerName) && (c.Name() == "kill" || shell.Option(c, "-u") == shell.No && shell.Option(c, "-U") == shell.No)
}

// connects reports whether a redirection of bash opens a connection.
func connects(c shell.Command) bool {
	return slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool {
		return strings.HasPrefix(r.File.Text, "/dev/tcp/") || strings.HasPrefix(r.File.Text, "/dev/udp/")
	})
}

// secret is a variable whose name says that it holds one.
var secret = regexp.MustCompile(`(?i)\$\{?[!#]?\w*(secret|token|passw|api_?key|private|credential|access_?key|auth)\w*|\$\{!`)

// address is a variable whose name says that it holds where a server is, most often with a password.
var address = regexp.MustCompile(`(?i)\$\{?(database|db|postgres|pg|mysql|mongo|redis|amqp|rabbitmq|sentry|webhook)\w*_(url|uri|dsn)\b`)

// usesSecret reports whether a command is given a variable that holds a secret; a test
// only looks whether it is there.
func usesSecret(c shell.Command) bool {
	if name := c.Name(); name == "test" || name == "[" {
		return false
	}
	prints := slices.Contains([]string{"echo", "printf"}, c.Name())
	return slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known && (secret.MatchString(w.Text) || prints && address.MatchString(w.Text))
	}) ||
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return !r.Here.Known && secret.MatchString(r.Here.Text) })
}

// asksMetadata looks for the addresses at which clouds hand out keys.
func asksMetadata(c shell.Command) shell.Found {
	return shell.FoundIf(slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return addresses.Metadata(w.Text) }) ||
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return addresses.Metadata(r.File.Text) || addresses.Metadata(r.Here.Text) }))
}

// router is what only the router answers: its approval requests, its table, its log level, and
// the ports of NATS on this machine.
var router = regexp.MustCompile(`(?i)/v1/+approvals|/v1/+(registry|freeze)\b|/loglevel\b|:8080/+(v1/+(events|execute|emit|collect|agents|session|why|link|audit|history|recent)|why|denied|approvals)\b`)

func answersItself(c shell.Command) shell.Found {
	decoded := func(text string) string {
		if plain, err := url.PathUnescape(text); err == nil {
			return plain
		}
		return text
	}
	return shell.FoundIf(slices.Contains([]string{"curl", "wget", "http", "https", "xh", "nc", "ncat", "netcat", "telnet", "socat", "websocat"}, c.Name()) &&
		slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return router.MatchString(decoded(w.Text)) || addresses.Loopback(w.Text) && natsPort.MatchString(w.Text)
		}))
}

// routerPath is what the router answers, at the ports that others have too.
var routerPath = regexp.MustCompile(`(?i):\d+/+v1/+(execute|emit|collect|why|audit|agents)\b|:\d+/+(api/+)?(v\d+/+)?(approvals/+[\w-]+|(approval|pending|questions?)/+[^/\s]+/+(answer|approve|allow|decision|decide|resolve))\b`)

// mayReachRouter: the router may listen at any port of this machine.
func mayReachRouter(c shell.Command) shell.Found {
	return shell.FoundIf(slices.Contains(downloads, c.Name()) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return routerPath.MatchString(w.Text) && addresses.Loopback(w.Text)
	}))
}

var natsPort = regexp.MustCompile(`:(4222|6222|8222)\b`)
