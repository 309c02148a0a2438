package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// foreignWords match arguments that make a program fetch or run code from an address.
	foreignWords = map[string]*regexp.Regexp{
		"mlflow": namedURL, "task": namedURL, "nix": regexp.MustCompile(`^(github|gitlab|sourcehut|tarball|git(\+\w+)?|https?)(\+\w+)?:|^--expr$`), "brew": regexp.MustCompile(`://|\.rb$|^[\w-]+/[\w-]+(/[\w@.+-]+)?$`), "streamlit": namedURL, "shadcn": namedURL, "docker": fetchedContext, "podman": fetchedContext,
		"mvn": mavenElsewhere, "mvnw": mavenElsewhere, "mvnd": mavenElsewhere,
		"degit": regexp.MustCompile(`^(https?://|git@|[\w-]+:)`),
	}
	// builders fetch code for a build, from an address that an option may name.
	builders = strings.Fields("mvn mvnw mvnd gradle gradlew sbt dotnet composer bundle conda mamba corepack asdf deno")
	// loadsAgent matches an option that makes the JVM or a .NET build run other code.
	loadsAgent     = regexp.MustCompile(`(?i)-(javaagent|agentpath):|(^|[:-])groovy[\w-]*:(.*:)?execute$|^[-/]+p(roperty)?:((pre|post)build|custom(before|after))`)
	fetchedContext = regexp.MustCompile(`^(https?|git|ssh)://|^git@|^github\.com/`)
	mavenElsewhere = regexp.MustCompile(`^-D(remoteRepositories|altDeploymentRepository|sonar\.host\.url|showPasswords|maven\.ext\.class\.path|exec\.executable)\b|[:.-]dependency-plugin:.*:get$|^dependency:get$|^help:system$`)

	// secretWords match arguments that make a program print secrets, by program.
	secretWords = map[string]*regexp.Regexp{
		"npm": ranEnv, "pnpm": ranEnv, "yarn": ranEnv, "bun": ranEnv, "opa": regexp.MustCompile(`opa\.runtime`), "php": regexp.MustCompile(`^(-i|--info|--ri)$|phpinfo`),
		"gradle": regexp.MustCompile(`^(:?[\w:]*:)?properties$`), "gradlew": regexp.MustCompile(`^(:?[\w:]*:)?properties$`),
		"gcloud": regexp.MustCompile(`^(activate|auth/.*token.*)$`), "aws": awsSecret, "py-spy": regexp.MustCompile(`^(--locals|-\w*l\w*)$`),
	}
	// mavenPlugin matches a plugin goal by its full name, and usualPlugin those of popular plugins.
	mavenPlugin = regexp.MustCompile(`^[\w-]+(\.[\w-]+)+:[\w.-]+(:[\w.-]+)?:[\w.@-]+$`)
	usualPlugin = regexp.MustCompile(`^(org\.(apache|codehaus|mojohaus|springframework|owasp|jacoco|sonarsource|pitest|flywaydb|liquibase|openrewrite|cyclonedx|openapitools|jetbrains|eclipse|graalvm|hibernate|jooq|antlr|openjfx|archunit|wildfly|mybatis|asciidoctor)|io\.(quarkus|micronaut|fabric8|swagger)` +
		`|com\.(diffplug|spotify|coveo|google|puppycrawl|github\.(spotbugs|eirslett))|net\.(revelc|alchim31))[.:]`)
	// tellsFound are options of gitleaks that print its findings, and masksFound masks them.
	tellsFound = regexp.MustCompile(`^(-v|--verbose|-r|--report-path(=.*)?)$`)
	masksFound = regexp.MustCompile(`^--redact(=.*)?$`)
	unverified = regexp.MustCompile(`^--(no-verification|help|version)$`)
	ranEnv     = regexp.MustCompile(`^env$`)
	awsSecret  = regexp.MustCompile(`^(describe-user-pool-client|list-api-keys|list-functions|get-function.*|describe-launch-template-versions|describe-configuration-settings|describe-vpn-connections|list-access-keys|describe-launch-configurations|list-service-specific-credentials)$`)
)

// fetchesCodeOrPrintsSecrets reports whether a known program fetches code from elsewhere or prints
// secrets.
func fetchesCodeOrPrintsSecrets(c shell.Command) bool {
	name := c.Name()
	has := func(p *regexp.Regexp) bool {
		return p != nil && c.AnyArg(p.MatchString)
	}
	told := c.Verbs(2)
	if name == "php" { // the rest are the arguments of a script
		c.Words = c.Words[:min(2, len(c.Words))]
	}
	switch {
	case slices.Contains(builders, name) && fetchesElsewhere(c):
		return true
	case (name == "npm" || name == "pnpm" || name == "yarn" || name == "bun") && !slices.Contains(told, "env"):
	case has(secretWords[name]):
		return true
	}
	switch name {
	case "docker", "podman":
		if at := slices.IndexFunc(c.Args(), func(w shell.Word) bool { return w.Text == "top" }); at == 0 && len(c.Args()) > 2 {
			return slices.ContainsFunc(c.Args()[2:], func(w shell.Word) bool { return showsEnvironment.MatchString(strings.TrimPrefix(w.Text, "-")) })
		}
		if slices.Contains(told, "build") && has(foreignWords[name]) || slices.Contains(told, "compose") && fromInput(c) {
			return true
		}
	case "docker-compose", "podman-compose":
		return fromInput(c)
	case "mvn", "mvnw", "mvnd":
		return has(foreignWords[name]) || slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return mavenPlugin.MatchString(w.Text) && !usualPlugin.MatchString(w.Text)
		})
	case "gitleaks":
		return has(tellsFound) && !has(masksFound)
	case "trufflehog":
		return !has(unverified) // otherwise it sends its findings for verification
	default:
		return has(foreignWords[name])
	}
	return false
}

// fetchesElsewhere reports whether a build loads an agent, or fetches packages from an unusual
// address. Arguments after -- belong to the program and are ignored.
func fetchesElsewhere(c shell.Command) bool {
	for _, w := range c.Args() {
		if w.Text == "--" {
			return false
		}
		if loadsAgent.MatchString(w.Text) || slices.ContainsFunc(namedURL.FindAllString(w.Text, -1), func(url string) bool { return !addresses.Loopback(url) && !usualHost.MatchString(url) }) {
			return true
		}
	}
	return false
}

// fromInput reports whether a program reads its container definitions from standard input.
func fromInput(c shell.Command) bool {
	for i, w := range c.Args() {
		if w.Text == "-f-" || w.Text == "--file=-" || w.Text == "-" && i > 0 && (c.Args()[i-1].Text == "-f" || c.Args()[i-1].Text == "--file") {
			return true
		}
	}
	return false
}
