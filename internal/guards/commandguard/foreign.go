package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// executing are programs that run the contents of their directory or their arguments: code, build
// files, package scripts.
var executing = strings.Fields(`make gmake just task rake invoke nox tox ninja meson cmake ctest autoreconf bazel bazelisk buck2 gradle gradlew mvn mvnw ant sbt lein mill scons waf xmake configure
	npm npx pnpm yarn bun bunx deno node nodejs tsx ts-node jest vitest mocha vite webpack next
	pip pip3 pipx uv uvx poetry pipenv pdm hatch python python2 python3 pypy pypy3 pytest py.test
	cargo go rustc mix elixir dotnet swift stack cabal bundle gem ruby rspec rails composer php artisan perl lua java ghc zig nim dart flutter pod
	bash sh zsh dash ksh source . docker podman docker-compose terraform tofu ansible-playbook vagrant nix devbox dpkg rpm`)

// runsForeign finds commands that run what the same line clones or unpacks.
func runsForeign(c shell.Command) shell.Found {
	if !c.Foreign || len(c.Words) == 0 || asks(c) {
		return shell.No
	}
	return shell.FoundIf(c.Name() == "" || strings.Contains(c.Words[0].Text, "/") || slices.Contains(executing, c.Name()))
}

// goModules are the path prefixes of well-known Go modules.
var goModules = regexp.MustCompile(`^(golang\.org/x|google\.golang\.org|honnef\.co/go/tools|mvdan\.cc|go\.uber\.org|k8s\.io|sigs\.k8s\.io|gotest\.tools|connectrpc\.com|go\.opentelemetry\.io|rsc\.io` +
	`|github\.com/(golangci|bufbuild|golang-migrate|pressly/goose|sqlc-dev|air-verse|cosmtrek/air|go-delve|onsi/ginkgo|swaggo|vektra/mockery|a-h/templ|securego/gosec|golang/mock|golang|google|grpc-ecosystem|oapi-codegen|deepmap/oapi-codegen|goreleaser|rakyll/hey|mikefarah/yq|nats-io|hashicorp|fullstorydev|ogen-go|matryer/moq|maxbrunsfeld/counterfeiter|rhysd/actionlint|kisielk/errcheck|uber-go|tinygo-org|cweill/gotests|client9/misspell|boumenot/gocover-cobertura|jstemmer/go-junit-report|gotestyourself))(/|@|$)`)

// crates are well-known Rust programs, in addition to those of [programs].
var crates = regexp.MustCompile(`^(cargo-(nextest|edit|watch|audit|deny|machete|outdated|expand|llvm-cov|tarpaulin|fuzz|release|make|binstall|udeps|hack|insta|leptos|generate|component|ndk|lambda|criterion|bloat|about|sort|msrv|semver-checks|zigbuild|dist|chef|mutants|shear|vet|geiger|careful|show-asm|modules|lipo|bundle|tauri)` +
	`|wasm-pack|wasm-bindgen-cli|sqlx-cli|diesel_cli|mdbook|trunk|just|ripgrep|fd-find|bat|hyperfine|tokei|taplo-cli|typos-cli|sccache|cross|maturin|uv|tauri-cli|create-tauri-app|espflash|probe-rs-tools|flamegraph|samply|bacon|dprint|zoxide|eza|sea-orm-cli|leptos-cli|tree-sitter-cli|grcov|nu)$`)

// initializers are well-known create-… packages that initialize a project.
var initializers = regexp.MustCompile(`^(vite|vite-extra|next-app|react-app|react-router|svelte|astro|remix|vue|nuxt|nuxt-app|t3-app|expo-app|playwright|cloudflare|docusaurus|tauri-app|solid|qwik|preact|hono|electron-app|storybook|turbo|nx-workspace|strapi-app|elysia)$`)

var nodeManagers = []string{"npm", "pnpm", "yarn", "bun"}

// onGitHub matches a package in the form owner/name, which these managers fetch from GitHub.
var onGitHub = regexp.MustCompile(`^[\w-][\w.-]*/[\w.-]+(#.*)?$`)

// wellKnown reports whether all packages that a program fetches, to run them or to install them for
// the user, are popular. Dependencies of the project are not checked.
func wellKnown(c shell.Command) bool {
	told := c.Verbs(2)
	if len(told) == 0 {
		return true
	}
	verb, words := told[0], operands(c)
	if at := slices.IndexFunc(words, func(w shell.Word) bool { return w.Text == verb }); at >= 0 {
		words = words[at+1:]
	}
	switch name := c.Name(); {
	case slices.Contains(nodeManagers, name) && slices.Contains([]string{"install", "i", "add"}, verb):
		return !slices.ContainsFunc(words, func(w shell.Word) bool { return onGitHub.MatchString(w.Text) })
	case name == "go" && (verb == "install" || verb == "run" || verb == "tool"):
		return !slices.ContainsFunc(words, func(w shell.Word) bool {
			return (strings.Contains(w.Text, "@") || !w.Known && verb == "install") && !goModules.MatchString(w.Text)
		})
	case name == "cargo" && (verb == "install" || verb == "binstall"):
		return shell.Option(c, "--path") == shell.Yes || all(words, crates)
	case slices.Contains([]string{"create", "init", "x"}, verb) && slices.Contains(nodeManagers, name) && len(words) > 0 && (name != "npm" || verb != "x"):
		return all(words[:1], initializers)
	case name == "deno" && verb == "run":
		return len(words) == 0 || !strings.HasPrefix(words[0].Text, "npm:") && !strings.HasPrefix(words[0].Text, "jsr:")
	case name == "pipx" && slices.Contains([]string{"run", "install", "inject"}, verb):
		return len(words) > 0 && all(words[:1], nil)
	case name == "uv" && verb == "tool" && len(told) > 1 && told[1] != "list" && told[1] != "dir":
		return len(words) > 1 && all(words[1:2], nil)
	}
	return true
}

// all reports whether all words name known programs or match names.
func all(words []shell.Word, names *regexp.Regexp) bool {
	return !slices.ContainsFunc(words, func(w shell.Word) bool {
		name, _, _ := strings.Cut(w.Text, "@")
		name, _, _ = strings.Cut(name, "[")
		_, listed := programs()[name]
		return !w.Known || name != path.Base(name) || !listed && (names == nil || !names.MatchString(name))
	})
}
