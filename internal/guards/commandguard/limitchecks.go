package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// emptiesLogs reports whether truncate empties logs of the project, with -s 0.
func emptiesLogs(c shell.Command) bool {
	args := c.Args()
	return len(args) > 2 && args[0].Text == "-s" && args[1].Text == "0" && !slices.ContainsFunc(args[2:], func(w shell.Word) bool {
		return !w.Known || !logFile.MatchString(w.Text) || !ownFile(w.Text, c.Dirs)
	})
}

// scansOrAsks reports whether redis-cli lists keys with --scan, which is no verb, and does nothing else;
// without --scan its verbs are judged.
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

// copiesHere reports whether aws s3 cp copies from there to here.
func copiesHere(c shell.Command) bool {
	words := operands(c)
	from := words[slices.IndexFunc(words, func(w shell.Word) bool { return w.Text == "cp" })+1:]
	return len(from) > 1 && strings.HasPrefix(from[0].Text, "s3://") && !slices.ContainsFunc(from[1:], func(w shell.Word) bool { return strings.Contains(w.Text, "://") || !w.Known })
}

// freesPorts reports whether a command stops what listens on ports that no well-known server has.
func freesPorts(c shell.Command) bool {
	return !slices.ContainsFunc(operands(c), func(w shell.Word) bool { return !port.MatchString(w.Text) || othersPort.MatchString(w.Text) })
}

var othersPort = regexp.MustCompile(`^:?(` + othersPorts + `)(/|$)`)

// journalChange are options of journalctl that change what it keeps.
var journalChange = regexp.MustCompile(`^--(vac|rot|flu|relinq|smart|syn|setup|upd)`)

// masksSensitiveValues reports whether terraform prints no value that is marked as sensitive, as it does in
// JSON.
func masksSensitiveValues(c shell.Command) bool {
	return !slices.Contains(c.Verbs(1), "show") || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || strings.Contains(w.Text, "-json") })
}

// installsFromRegistry reports whether packages come from the usual registry.
func installsFromRegistry(c shell.Command) bool {
	return !aimsAt(upToProgram(c), fromElsewhere) && !addsByOption(c) && !namesTell(c) && wellKnown(c) && knownExtras(c) && (!slices.Contains(c.Verbs(1), "config") || !aimsAt(c, keyName)) &&
		!c.AnyArg(elsewhere.MatchString)
}

var elsewhere = regexp.MustCompile(`^--(index-url|extra-index-url|registry|trusted-host)(=|$)`)

// setsSafePermissions reports whether a mode or owner keeps others from writing and from running a program
// as its owner, and keeps a whole project usable.
func setsSafePermissions(c shell.Command) bool {
	return !aimsAt(c, unsafePermissions) &&
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

// namesGuards reports whether a command names what guards the agent.
func namesGuards(c shell.Command) bool {
	return aimsAt(c, guardNames)
}

// hasLiteralArguments reports whether no word is made of what a command prints or a variable holds: a
// program would send it out.
func hasLiteralArguments(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || strings.ContainsAny(w.Text, "`") || strings.Contains(w.Text, "$(")
	})
}

// declaresVariables reports whether a command is given a name: without one it prints all variables.
func declaresVariables(c shell.Command) bool {
	return !aimsAt(c, ofHooks) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !strings.HasPrefix(w.Text, "-") })
}

// readsNoEnvironment reports whether a filter prints no variables of the environment.
func readsNoEnvironment(c shell.Command) bool {
	return !aimsAt(c, environment)
}

var printsBase = regexp.MustCompile(`^-[a-zA-Z]*p[a-zA-Z]*$|^--print-d`)

// printsNoVariables reports whether make prints no variables, as -p does, and is given no function to run.
func printsNoVariables(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return printsBase.MatchString(w.Text) || w.Known && strings.Contains(w.Text, "$(") // make would run it
	})
}

// servesProject reports whether a server of files serves a directory of the project.
func servesProject(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		_, value, _ := strings.Cut("="+w.Text, "=")
		value = value[strings.LastIndexByte(value, '=')+1:]
		return !w.Known || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.HasPrefix(value, "..")
	})
}

// tracesOwnProcess reports whether a tracer starts the program itself: one that runs already may be
// another's.
func tracesOwnProcess(c shell.Command) bool { return shell.Option(c, "-p") == shell.No }

// debugsOwnProcess reports whether a debugger starts the program itself, as a batch: one that runs
// already, or what is left of one, may hold another's secrets.
func debugsOwnProcess(c shell.Command) bool {
	return shell.Option(c, "-batch") == shell.Yes && !c.AnyArg(attaches.MatchString) &&
		!slices.ContainsFunc(upToArguments(c.Args()), func(w shell.Word) bool { return number.MatchString(w.Text) })
}

// rollsBackOneStep reports whether migrations are taken back by single steps, which can be made again, and
// not all at once.
func rollsBackOneStep(c shell.Command) bool {
	back := slices.ContainsFunc(c.Verbs(1), func(v string) bool { return v == "downgrade" || strings.Contains(v, "rollback") })
	return !back || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || w.Text == "--all" || strings.HasPrefix(w.Text, "--to") || w.Text == "base" || c.Name() == "alembic" && len(c.Verbs(2)) > 1
	})
}

// printsVariables reports whether printenv is given names of variables that hold no secrets; without
// names it prints all.
func printsVariables(c shell.Command) bool {
	return len(c.Args()) > 0 && !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || !variableName.MatchString(w.Text) || secretVariable.MatchString(w.Text)
	})
}

var secretVariable = regexp.MustCompile(`(?i)key|token|secret|pass|cred|auth|_url|dsn|cookie|session|hook`)

// keepsSources reports whether tar leaves the files that it stores, and unpacks none to where its archive says.
func keepsSources(c shell.Command) bool {
	return !c.MayHave("--remove-files", "-P", "--absolute-names")
}

// installsNoExtension reports whether an editor installs no extension, which is foreign code.
func installsNoExtension(c shell.Command) bool {
	return shell.Option(c, "--install-extension*") == shell.No
}

// opensLocalPages reports whether only pages of this machine are opened.
func opensLocalPages(c shell.Command) bool {
	return !c.AnyArg(func(text string) bool { return !addresses.Loopback(text) && !page.MatchString(text) })
}

// emptiesOnlyLogs reports whether a command that prints nothing, and so empties the file that it writes
// to, does that to logs of the project only.
func emptiesOnlyLogs(c shell.Command) bool {
	return !slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool {
		return r.Write && r.File.Text != "/dev/null" && (!r.File.Known || !logFile.MatchString(r.File.Text) || !ownFile(r.File.Text, c.Dirs))
	})
}

// signalsOrdinaryProcesses reports whether a command stops or looks for none of these: the first process,
// all of a user, system servers, and what guards the agent.
func signalsOrdinaryProcesses(c shell.Command) bool {
	return !namesGuards(c) && !aimsAt(c, everyProcess) && !aimsAt(c, servers) && !aimsAt(c, routerName) && (c.Name() == "kill" || !c.MayHave("-u", "-U"))
}
