package initfile

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
)

// thing is something that a project may contain, and the rules for it. No text from the project
// gets into a rule, because an agent can write there.
type thing struct {
	Name      string
	patterns  []string // of files; one match is enough
	deny      []string // paths that may not be read
	denyWrite []string // paths that may not be written
	denyRun   []string // commands
	askRun    []string // commands
	test      string   // a command of denyRun or askRun, and the expected action
	action    string
}

// things are checked in this order. A language adds only what the starter policy does not already
// cover.
var things = []thing{
	{Name: "Go", patterns: []string{"go.mod", "go.work"}},
	{Name: "Node.js", patterns: []string{"package.json"}, askRun: []string{"npm publish", "pnpm publish", "yarn publish", "yarn npm publish"}, test: "npm publish", action: "ask_user"},
	{Name: "Python", patterns: []string{"pyproject.toml", "requirements*.txt", "setup.py", "Pipfile"}, askRun: []string{"twine upload", "uv publish", "poetry publish"}, test: "twine upload dist/a", action: "ask_user"},
	{Name: "Rust", patterns: []string{"Cargo.toml"}, askRun: []string{"cargo publish", "cargo yank"}, test: "cargo publish", action: "ask_user"},
	{Name: "Java or Kotlin", patterns: []string{"pom.xml", "build.gradle", "build.gradle.kts"}, askRun: []string{"mvn deploy"}, test: "mvn deploy", action: "ask_user"},
	{Name: "Ruby", patterns: []string{"Gemfile"}, askRun: []string{"gem push"}, test: "gem push a.gem", action: "ask_user"},
	{Name: "PHP", patterns: []string{"composer.json"}},
	{Name: ".NET", patterns: []string{"*.sln", "*.csproj", "*/*.csproj"}, askRun: []string{"dotnet nuget push"}, test: "dotnet nuget push a.nupkg", action: "ask_user"},
	{Name: ".env files", patterns: []string{".env", ".env.*", "*/.env", "*/.env.*"}, denyWrite: []string{"**/.envrc"}},
	{Name: "git", patterns: []string{".git"}, denyWrite: []string{"**/.git/{config,hooks/**}"}, askRun: []string{"git push --tags", "git push --mirror"}, test: "git push --tags", action: "ask_user"},
	{Name: "CI configuration", patterns: []string{".github/workflows", ".gitlab-ci.yml", ".circleci", "Jenkinsfile", "azure-pipelines.yml", ".buildkite", ".woodpecker*", ".drone.yml"}, denyWrite: []string{
		"**/.github/{workflows,actions}/**", "**/.{circleci,buildkite,woodpecker}/**", "**/.{gitlab-ci,drone,woodpecker}.{yml,yaml}", "**/Jenkinsfile", "**/azure-pipelines.yml",
	}},
	{Name: "settings of coding agents", patterns: []string{".claude", ".codex", ".gemini", ".qwen", ".cursor", ".goose*", ".mcp.json", "opencode.json*", ".opencode"}, denyWrite: []string{
		"**/.claude/{settings*.json,hooks/**,commands/**,agents/**,skills/**}", "**/.{codex,gemini,qwen,cursor,opencode}/**", "**/.mcp.json", "**/opencode.{json,jsonc}",
	}},
	{Name: "containers", patterns: []string{"docker-compose*.y*ml", "compose*.y*ml", "Dockerfile*", "Containerfile"}, denyRun: []string{"docker volume rm", "docker compose rm -v"}, askRun: []string{"docker push", "docker compose push"}, test: "docker volume rm data", action: "deny"},
	{Name: "Terraform", patterns: []string{"*.tf", "*/*.tf", "*/*/*.tf"}, deny: []string{"**/*.{tfstate,tfstate.backup}"}, denyRun: []string{"terraform destroy", "terraform state rm", "tofu state rm"}, askRun: []string{"terraform apply", "tofu apply", "terraform import"}, test: "terraform destroy", action: "deny"},
	{Name: "Kubernetes manifests", patterns: []string{"kustomization.y*ml", "*/kustomization.y*ml", "Chart.yaml", "*/Chart.yaml", "k8s", "kubernetes", "manifests", "deploy/k8s"}, denyRun: []string{"kubectl delete", "kubectl replace --force"}, askRun: []string{"kubectl apply", "kubectl exec", "helm upgrade", "helm install"}, test: "kubectl delete ns shop", action: "deny"},
}

// found returns the things that a directory contains.
func found(dir fs.FS) (list []thing) {
	for _, t := range things {
		if slices.ContainsFunc(t.patterns, func(p string) bool {
			names, _ := fs.Glob(dir, p) // the patterns are valid
			return len(names) > 0
		}) {
			list = append(list, t)
		}
	}
	return list
}

// The limits for a project's build files.
const (
	maxBuildFile = 256 << 10 // bytes
	maxTargets   = 20        // of each file
)

var (
	rule = regexp.MustCompile(`(?m)^([A-Za-z0-9][A-Za-z0-9_.-]{0,39})[^:=\n]*:(?:[^=]|$)`)
	// plain matches a name that is safe in a YAML comment and in a pattern.
	plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}$`)
)

// targets returns commands for the project's build targets.
func targets(dir fs.FS) (list []string) {
	for file, command := range map[string]string{"Makefile": "make ", "justfile": "just ", "Justfile": "just "} {
		var names []string
		for _, m := range rule.FindAllSubmatch(read(dir, file), -1) {
			names = append(names, command+string(m[1]))
		}
		list = append(list, names[:min(len(names), maxTargets)]...)
	}
	var npm struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(read(dir, "package.json"), &npm) == nil {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(npm.Scripts)) {
			if plain.MatchString(name) {
				names = append(names, "npm run "+name)
			}
		}
		list = append(list, names[:min(len(names), maxTargets)]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// read returns the beginning of a file, or nil if it does not exist.
func read(dir fs.FS, name string) []byte {
	f, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxBuildFile)) // a partial read is enough
	return text
}
