package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

var (
	// grave matches targets of a project with effects beyond the project.
	grave = regexp.MustCompile(`(?i)(^|[:_./-])(destroy|drop|wipe|nuke|purge|deploy|publish|release|teardown|rollback|downgrade|undeploy|uninstall|reset|prod|production|flyway:?clean)([:_./-]|$)`)
	// ships matches arguments that make a build tool publish.
	ships = regexp.MustCompile(`(?i)(^|:)(publish|publishSigned|release|deploy|gh-deploy|upload|submit|destroy|hex\.publish|apply|unpublish)$|(?-i:\b(publish|upload|release|deploy)[A-Z]\w*$)`)
	// shippers are build tools that can publish.
	shippers = strings.Fields("setup.py gradle gradlew sbt lein mill ant goreleaser lerna nx turbo expo eas-cli mkdocs hugo cabal stack rebar3 ko jekyll xmake ng astro remix serverless")
	// runsTargets are programs whose arguments name targets of a project.
	runsTargets = strings.Fields("npm-run-all run-s run-p make gmake just task rake invoke npm pnpm yarn bun gradle gradlew mvn mvnw composer flask mvnd")
)

// crossTool matches a tool of a cross toolchain, such as arm-none-eabi-size.
var crossTool = regexp.MustCompile(`^[a-z0-9_]+(?:-[a-z0-9_]+){1,3}-(size|nm|objdump|readelf|addr2line|strip|objcopy|ar|ranlib|gcc|g\+\+|ld|as|strings|c\+\+filt)$`)

// develops reports whether a command belongs to everyday development: a program known for this
// verb, or a program of the project.
func develops(c shell.Command) bool {
	if loadsForeign(c) || takesCode(c) || fetchesCodeOrPrintsSecrets(c) {
		return false
	}
	if len(c.Words) == 0 {
		return !c.Writes() // a lone redirection empties a file
	}
	given := len(c.Words)
	c = module(c)
	ran := len(c.Words) < given // run as a Python module, probably of the project
	if c.Name() == "" || usesSecret(c) || c.Connects() || addressTells(c) {
		return false
	}
	if m := crossTool.FindStringSubmatch(c.Name()); m != nil {
		c.Words = append([]shell.Word{{Text: m[1], Known: true}}, c.Args()...)
	}
	verbs, listed := programs()[c.Name()]
	passes, limited := limits[c.Name()]
	switch {
	case asks(c), publishesNothing(c), ofTests(c):
		return true
	case !listed && ran:
		return modular.MatchString(c.Name()) && !slices.Contains(foreignModules, c.Name()) && !aimsAt(c, ships)
	case !listed:
		return (own(c) || stays(c) || c.Built || fetched(c)) && !aimsAt(c, grave)
	case slices.Contains(runsTargets, c.Name()) && aimsAt(targeted(c), grave), limited && !passes(c), slices.Contains(shippers, c.Name()) && aimsAt(c, ships) && !rehearses(c):
		return false
	}
	return verbs == nil || does(c, verbs)
}

var (
	packageManagers = strings.Fields("npm pnpm yarn bun composer")
	ofPackages      = strings.Fields("install i add require uninstall remove rm un view info show list ls why explain outdated search update up")
)

// script matches common build and development scripts of a package, as in npm run build.
var script = regexp.MustCompile(`^(build|test|lint|check|type-?check|dev|start|format)\b[\w:-]*$`)

// targeted returns a command without the arguments after -- that a script receives: in npm run
// build -- --mode production, production is not a target.
//
// The words after verbs such as install are packages, and make -n only prints what it would run.
// Such commands have no targets.
func targeted(c shell.Command) shell.Command {
	args := c.Args()
	if slices.Contains(packageManagers, c.Name()) && slices.Contains(ofPackages, c.Verb()) ||
		strings.HasSuffix(c.Name(), "make") && len(args) > 0 && (args[0].Text == "-n" || args[0].Text == "--dry-run") {
		c.Words = c.Words[:1]
		return c
	}
	at := slices.IndexFunc(args, func(w shell.Word) bool { return w.Text == "--" })
	if at > 0 && slices.Contains(nodeManagers, c.Name()) && script.MatchString(args[at-1].Text) {
		c.Words = c.Words[:at+1]
	}
	return c
}

// rehearses reports whether a program only simulates publishing, or publishes locally.
func rehearses(c shell.Command) bool {
	return c.Has("--snapshot", "publishToMavenLocal", "--dry-run", "--skip=publish")
}

// own reports whether a program is named by a path in the project.
func own(c shell.Command) bool {
	file := c.Words[0].Text
	return strings.Contains(file, "/") && ownFile(file, c.Dirs)
}

// ownFile reports whether a path, relative to some directories, is in the project.
func ownFile(file string, dirs []string) bool {
	if strings.HasPrefix(file, "/") {
		return slices.ContainsFunc(dirs, func(dir string) bool { return len(dir) > 1 && strings.HasPrefix(path.Clean(file), dir+"/") })
	}
	clean := path.Clean(file)
	return !strings.ContainsAny(file, ":@") && !strings.HasPrefix(file, "~") && clean != ".." && !strings.HasPrefix(clean, "../")
}

// Unknown programs are taken to stay in the project if they have these names or verbs.
var (
	checks  = regexp.MustCompile(`^[a-z0-9_-]*(lint|fmt|test|check|docs?)$`)
	checked = strings.Fields("version help lint test tests check fmt format build docs validate typecheck status members doctor list synth plan compile outdated")
	// keeper matches the names of programs that store secrets, which their lists may reveal.
	keeper = regexp.MustCompile(`secret|token|env|key|cred|vault|pass|doppler|infisical|chamber|^(op|bw|rbw|age|security|teller|keeper)$|sops|gpg|berglas`)
	// lists are verbs after a noun, as in clusters list.
	lists   = strings.Fields("list ls status lint validate version clusters nodes")
	noun    = regexp.MustCompile(`^[a-z][a-z-]+$`)
	telling = regexp.MustCompile(`secret|token|env|key|cred|vault|item|config|var|password|auth|account`)
)

// stays reports whether an unknown program only builds or checks, judging by its name or arguments.
func stays(c shell.Command) bool {
	args := c.Args()
	if strings.ContainsAny(c.Words[0].Text, "/:") {
		return false
	}
	second := len(args) > 1 && args[0].Known && noun.MatchString(args[0].Text) && !telling.MatchString(args[0].Text) && args[1].Known && slices.Contains(lists, args[1].Text)
	if keeper.MatchString(c.Name()) {
		return false
	}
	return checks.MatchString(c.Name()) || second || len(args) > 0 && args[0].Known && slices.Contains(checked, args[0].Text)
}

// asks reports whether a program is only asked for its version or for help.
func asks(c shell.Command) bool {
	args := c.Args()
	return len(args) == 1 && slices.Contains([]string{"--version", "-version", "-V", "--help"}, args[0].Text) && !c.Writes()
}

// does reports whether the verb of a command is in verbs, or not in verbs if these begin with "!".
// An entry is one verb, or two separated by a slash.
func does(c shell.Command, verbs []string) bool {
	told := c.Verbs(2)
	if len(told) == 0 {
		return len(c.Args()) == 0 || shell.Option(c, "--scan") == shell.Yes && slices.Contains(verbs, "--scan") || len(c.Args()) == 1 && (c.Args()[0].Text == "-v" || c.Args()[0].Text == "-h") || slices.Contains(verbs, c.Args()[0].Text)
	}
	if c.Name() == "mix" && told[0] == "do" {
		return doesEach(c.Args()[1:], verbs)
	}
	if verbs[0] == "!" {
		return !slices.Contains(verbs, told[0])
	}
	return slices.ContainsFunc(verbs, func(v string) bool {
		return approval.Glob(v, told[0]) || len(told) > 1 && approval.Glob(v, told[0]+"/"+told[1])
	})
}

// doesEach reports whether all tasks of mix do are allowed. They are separated by a comma or a +.
func doesEach(args []shell.Word, verbs []string) bool {
	first := true
	for _, w := range args {
		task := strings.TrimSuffix(w.Text, ",")
		if first && (!w.Known || task == "do" || task == "run" || !slices.ContainsFunc(verbs, func(v string) bool { return approval.Glob(v, task) })) {
			return false
		}
		first = w.Text == "+" || strings.HasSuffix(w.Text, ",")
	}
	return true
}

func aimsAt(c shell.Command, names *regexp.Regexp) bool {
	return c.AnyArg(func(text string) bool { return !strings.HasPrefix(text, "-") && names.MatchString(text) })
}

// module returns the command that an interpreter runs: python -m pytest is pytest, and php artisan
// is artisan.
func module(c shell.Command) shell.Command {
	if !interpreter.MatchString(c.Name()) || c.Name() == "php" && len(c.Args()) == 1 && listsModules.MatchString(c.Args()[0].Text) {
		return c
	}
	for i, w := range c.Args() {
		name, given := strings.CutPrefix(w.Text, "-m")
		switch words := slices.Clone(c.Args()[i:]); {
		case given && name != "":
			words[0].Text = name
			c.Words = words
			return c
		case given:
			c.Words = words[1:]
			return c
		case !strings.HasPrefix(w.Text, "-"):
			if programs()[path.Base(w.Text)] != nil {
				c.Words = words
			}
			return c
		}
	}
	return c
}

var (
	modular = regexp.MustCompile(`^[a-z_][\w.]*$`)
	// foreignModules have effects beyond the project.
	foreignModules = strings.Fields("twine keyring dotenv awscli ansible nats smtpd smtplib ftplib telnetlib xmlrpc.server wsgiref webbrowser code ensurepip zipapp torch.distributed.run pyftpdlib netrc httpx websockets aiosmtpd paramiko fabric idlelib idlelib.idle")
)

// listsModules matches an option of PHP that prints its modules or version.
var listsModules = regexp.MustCompile(`^-[mv]$`)

var interpreter = regexp.MustCompile(`^(py|python|pypy)[\d.]*$|^php[\d.]*$|^ruby$`)

var (
	// testEnvironment matches a variable that makes a framework use its test data. inTests are the
	// tasks that may then recreate that data.
	testEnvironment = regexp.MustCompile(`^(RAILS_ENV|RACK_ENV|MIX_ENV|APP_ENV|NODE_ENV)$`)
	inTests         = map[string][]string{
		"rails":     strings.Fields("db:drop db:create db:schema:load db:structure:load db:reset db:setup db:migrate db:seed db:prepare db:test:prepare db:rollback"),
		"mix":       strings.Fields("ecto.drop ecto.create ecto.reset ecto.setup ecto.migrate ecto.load ecto.rollback"),
		"artisan":   strings.Fields("migrate:fresh migrate:refresh migrate:reset migrate:rollback db:seed db:wipe"),
		"sequelize": strings.Fields("db:drop db:create db:migrate db:seed:all db:migrate:undo:all"),
	}
)

// ofTests reports whether a framework only recreates its test data.
func ofTests(c shell.Command) bool {
	name := strings.TrimSuffix(c.Name(), "-cli")
	if name == "rake" {
		name = "rails"
	}
	tasks, tests := inTests[name], false
	for _, a := range c.Assigns {
		tests = tests || testEnvironment.MatchString(a.Name) && a.Value.Known && (a.Value.Text == "test" || a.Value.Text == "testing")
	}
	for _, w := range c.Args() {
		switch {
		case w.Text == "--env=testing" || w.Text == "--env=test":
			tests = true
		case !w.Known || !slices.Contains(tasks, w.Text) && w.Text != "--quiet" && w.Text != "--seed" && w.Text != "--force":
			return false
		}
	}
	return tests && len(tasks) > 0
}
