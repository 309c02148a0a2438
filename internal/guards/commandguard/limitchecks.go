package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// emptiesLogs reports whether truncate -s 0 empties only logs of the project.
func emptiesLogs(c shell.Command) bool {
	args := c.Args()
	return len(args) > 2 && args[0].Text == "-s" && args[1].Text == "0" && !slices.ContainsFunc(args[2:], func(w shell.Word) bool {
		return !w.Known || !logFile.MatchString(w.Text) || !ownFile(w.Text, c.Dirs)
	})
}

// scansOrAsks reports whether redis-cli with --scan only lists keys. Without --scan, its verbs are
// checked elsewhere.
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
	return scanOptions.MatchString(strings.Join(texts, " "))
}

// copiesHere reports whether aws s3 cp copies from S3 to this machine.
func copiesHere(c shell.Command) bool {
	words := operands(c)
	from := words[slices.IndexFunc(words, func(w shell.Word) bool { return w.Text == "cp" })+1:]
	return len(from) > 1 && strings.HasPrefix(from[0].Text, "s3://") && !slices.ContainsFunc(from[1:], func(w shell.Word) bool { return strings.Contains(w.Text, "://") || !w.Known })
}

// freesPorts reports whether a command stops only processes that listen on ports of no well-known
// server.
func freesPorts(c shell.Command) bool {
	return !slices.ContainsFunc(operands(c), func(w shell.Word) bool { return !port.MatchString(w.Text) || othersPort.MatchString(w.Text) })
}

var othersPort = regexp.MustCompile(`^:?(` + othersPorts + `)(/|$)`)

// journalChange matches options of journalctl that change its storage.
var journalChange = regexp.MustCompile(`^--(vac|rot|flu|relinq|smart|syn|setup|upd)`)

// masksSensitiveValues reports whether terraform masks the values that are marked as sensitive. It
// prints them in JSON.
func masksSensitiveValues(c shell.Command) bool {
	return !slices.Contains(c.Verbs(1), "show") || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || strings.Contains(w.Text, "-json") })
}

// installsFromRegistry reports whether packages come from the usual registry.
func installsFromRegistry(c shell.Command) bool {
	return !aimsAt(upToProgram(c), fromElsewhere) && !addsByOption(c) && !namesTell(c) && wellKnown(c) && knownExtras(c) && (!slices.Contains(c.Verbs(1), "config") || !aimsAt(c, keyName)) &&
		!c.AnyArg(elsewhere.MatchString)
}

var elsewhere = regexp.MustCompile(`^--(index-url|extra-index-url|registry|trusted-host)(=|$)`)

// setsSafePermissions reports whether a mode or owner gives others no write access, sets no setuid
// or setgid bit, and keeps a whole project usable.
func setsSafePermissions(c shell.Command) bool {
	return !aimsAt(c, unsafePermissions) &&
		(recursive(c) == shell.No || here(c) == shell.No && !lockingMode.MatchString(firstArgument(c)) && (c.Name() == "chmod" || !systemOwner.MatchString(firstArgument(c))))
}

var (
	// lockingMode matches modes that make a directory unreadable for its owner.
	lockingMode = regexp.MustCompile(`^(a|u|ug|ugo|)(-[wX]*[rx][rwxX]*|=[wX]*)(,|$)|^0?[0-3][0-7]{2}$`)
	// systemOwner matches system accounts.
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

// namesGuards reports whether a command names a component that guards the agent.
func namesGuards(c shell.Command) bool {
	return aimsAt(c, guardNames)
}

// hasLiteralArguments reports whether no argument depends on a variable or on the output of a
// command, which the program would send elsewhere.
func hasLiteralArguments(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || strings.ContainsAny(w.Text, "`") || strings.Contains(w.Text, "$(")
	})
}

// declaresVariables reports whether a command has operands. Without them it prints all variables.
func declaresVariables(c shell.Command) bool {
	return !aimsAt(c, ofHooks) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !strings.HasPrefix(w.Text, "-") })
}

// readsNoEnvironment reports whether a filter prints no environment variables.
func readsNoEnvironment(c shell.Command) bool {
	return !aimsAt(c, environment)
}

var printsBase = regexp.MustCompile(`^-[a-zA-Z]*p[a-zA-Z]*$|^--print-d`)

// printsNoVariables reports whether make prints no variables, as -p does, and has no argument with
// a function to run.
func printsNoVariables(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return printsBase.MatchString(w.Text) || w.Known && strings.Contains(w.Text, "$(") // make would run the function
	})
}

// servesProject reports whether a file server serves a directory of the project.
func servesProject(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		_, value, _ := strings.Cut("="+w.Text, "=")
		value = value[strings.LastIndexByte(value, '=')+1:]
		return !w.Known || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.HasPrefix(value, "..")
	})
}

// tracesOwnProcess reports whether a tracer starts the program itself. A running one may belong to
// someone else.
func tracesOwnProcess(c shell.Command) bool { return shell.Option(c, "-p") == shell.No }

// debugsOwnProcess reports whether a debugger starts the program itself in batch mode. A running
// process or a core file may contain secrets of someone else.
func debugsOwnProcess(c shell.Command) bool {
	return shell.Option(c, "-batch") == shell.Yes && !c.AnyArg(attaches.MatchString) &&
		!slices.ContainsFunc(upToArguments(c.Args()), func(w shell.Word) bool { return number.MatchString(w.Text) })
}

// rollsBackOneStep reports whether migrations are reverted by single steps, which can be applied
// again, and not all at once.
func rollsBackOneStep(c shell.Command) bool {
	back := slices.ContainsFunc(c.Verbs(1), func(v string) bool { return v == "downgrade" || strings.Contains(v, "rollback") })
	return !back || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || w.Text == "--all" || strings.HasPrefix(w.Text, "--to") || w.Text == "base" || c.Name() == "alembic" && len(c.Verbs(2)) > 1
	})
}

// printsVariables reports whether printenv has arguments, none of which names a variable with a
// secret. Without arguments it prints all variables.
func printsVariables(c shell.Command) bool {
	return len(c.Args()) > 0 && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || !variableName.MatchString(w.Text) || secretVariable.MatchString(w.Text)
	})
}

var secretVariable = regexp.MustCompile(`(?i)key|token|secret|pass|cred|auth|_url|dsn|cookie|session|hook`)

// keepsSources reports whether tar keeps the files that it stores, and extracts none to an absolute
// path.
func keepsSources(c shell.Command) bool {
	return !c.MayHave("--remove-files", "-P", "--absolute-names")
}

// installsNoExtension reports whether an editor installs no extension, which is foreign code.
func installsNoExtension(c shell.Command) bool {
	return shell.Option(c, "--install-extension*") == shell.No
}

// opensLocalPages reports whether a command opens only local files and addresses of this machine.
func opensLocalPages(c shell.Command) bool {
	return !c.AnyArg(func(text string) bool { return !addresses.Loopback(text) && !page.MatchString(text) })
}

// emptiesOnlyLogs reports whether a command without output, which empties the files that it is
// redirected to, does so only to logs of the project.
func emptiesOnlyLogs(c shell.Command) bool {
	return !slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool {
		return r.Write && r.File.Text != "/dev/null" && (!r.File.Known || !logFile.MatchString(r.File.Text) || !ownFile(r.File.Text, c.Dirs))
	})
}

// signalsOrdinaryProcesses reports whether a command's operands name none of these: process 1,
// patterns for all processes, system servers, and components that guard the agent. It must not
// select processes by user either.
func signalsOrdinaryProcesses(c shell.Command) bool {
	return !namesGuards(c) && !aimsAt(c, everyProcess) && !aimsAt(c, servers) && !aimsAt(c, routerName) && (c.Name() == "kill" || !c.MayHave("-u", "-U"))
}
