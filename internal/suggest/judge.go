package suggest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/hookrouter/hookrouter/examples/policies"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/guards/flowguard"
	"github.com/hookrouter/hookrouter/internal/guards/wordset"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Judge decides which commands must never be allowed without a person. It needs no files.
type Judge struct {
	file   *workerfile.File
	policy *evaluate.FilePolicy
}

// NewJudge returns a judge that uses the starter policy for coding agents. Its guards are changed
// to let everything pass except what they know to be harmful. Close it after use.
func NewJudge() (*Judge, error) {
	options := basic.Kinds(kind.Worker{})
	options.FileOnly = true
	file, err := workerfile.Parse("coding-agent.yaml", bytes.Replace(policies.CodingAgent, []byte("otherwise: ask"), []byte("otherwise: allow"), 1), options)
	if err != nil {
		return nil, fmt.Errorf("read the starter policy: %w", err)
	}
	return &Judge{file, evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{AsIfEnforced: true})}, nil
}

// Close closes the policy.
func (j *Judge) Close() { j.file.Close() }

// runners are programs that run what a file or an argument says, which the agent may have written.
var runners = wordset.Of(`sh bash zsh dash ksh fish csh tcsh cmd cmd.exe powershell pwsh python python2 python3 pypy pypy3 ipython jupyter node nodejs deno bun tsx ts-node ruby
	perl php lua luajit rscript julia java jshell scala kotlin groovy osascript awk gawk mawk nawk sed gsed ed ex vi vim nvim view emacs nano less more man xargs parallel env find fd
	timeout nice ionice nohup stdbuf time watch entr strace ltrace gdb lldb eval exec source . command builtin trap alias busybox toybox sudo su doas pkexec runuser chroot nsenter unshare
	setsid script expect flock chronic make gmake just task rake ant gradle gradlew mvn mvnw sbt lein cargo go npm npx pnpm pnpx yarn bunx tox nox invoke pytest jest vitest mocha ava
	bazel bazelisk buck2 cmake ctest ninja meson scons pip pip3 pipx uv uvx poetry pdm hatch pipenv conda gem bundle bundler rails composer brew apt apt-get dnf yum apk pacman snap nix
	ansible ansible-playbook pre-commit lefthook eslint webpack vite rollup babel prettier terraform tofu terragrunt pulumi vagrant crontab at batch systemd-run launchctl tmux screen
	docker-compose podman-compose mix dotnet swift dart flutter zig cabal stack ghc opam dune rebar3 elixir erl iex clojure racket guile sqlite3 psql mysql mariadb duckdb gdbserver
	tee dd cp mv ln rsync install tar unzip zip export unset set cd pushd popd`)

// harm matches words of commands that destroy, send, grant rights, handle secrets or run other
// commands.
var harm = regexp.MustCompile(`(?i)(^|[^a-z])(delet|destroy|drop|eras|kill|mkfs|fdisk|diskutil|nuke|prune|purg|remov|reset|revok|shred|shutdown|reboot|poweroff|halt|terminat|truncat|uninstall|unlink|wip(e|ing)|forc|overwrit|clean|clear|flush|discard|evict|drain|detach|disable|` +
	`appl(y|ies)|printenv|deploy|destruct|publish|push|releas|rollback|roll-back|upload|send|submit|transfer|promot|migrat|merge|sync|sudo|chmod|chown|chattr|login|logout|auth|token|secret|passw|credential|apikey|api-key|private|ssh|gpg|` +
	`exec|eval|install|import|restor|prod([^a-z]|$)|production|rm([^a-z]|$)|rmdir|run([^a-z]|$)|del([^a-z]|$)|su([^a-z]|$)|stop|restart|hook-?router|hook-?worker|hook-?agent|hookctl|nats([^a-z]|$))`)

// brief are options that often mean: do not ask.
var brief = wordset.Of("-f -y -F -Y --yes --assume-yes --no-confirm --auto-approve --no-verify")

// Refuse returns why a command must not be allowed without a person, or "" if there is no reason.
// The command must be plain, except for a glob for files.
func (j *Judge) Refuse(ctx context.Context, tool, cwd, command string) (why string, err error) {
	words := strings.Split(command, " ")
	program := words[0]
	if _, secrets := redact.Text(command); secrets > 0 {
		return "it has a secret in it", nil
	}
	for _, word := range words {
		if harm.MatchString(word) || brief[word] {
			return fmt.Sprintf("%q may mean harm", word), nil
		}
		if strings.Contains(word, "@") {
			return "it names another machine", nil
		}
	}
	switch {
	case strings.Contains(program, "="):
		return "it sets a variable", nil
	case strings.ContainsAny(program, "/."):
		return "its program may be a file that the agent can write", nil
	case runners[strings.ToLower(program)]:
		return program + " runs or writes what the agent may choose", nil
	case flowguard.Sends(command, cwd):
		return program + " reaches other machines", nil
	}
	return j.guards(ctx, tool, cwd, command)
}

// guards runs the command through the starter policy.
func (j *Judge) guards(ctx context.Context, tool, cwd, command string) (string, error) {
	data, err := json.Marshal(map[string]any{"tool_name": tool, "cwd": cwd, "tool_input": map[string]string{"command": command}})
	if err != nil {
		return "", err
	}
	out, err := j.policy.Decide(ctx, events.Event{Name: events.ToolPre, ID: "suggest", Source: "hookctl", Data: data})
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return "the starter policy can't judge it: " + err.Error(), nil //nolint:nilerr // it is the reason
	case out.Action != chain.Continue:
		return "the starter policy would not let it pass: " + out.Reason, nil
	}
	return "", nil
}

// inDirectory reports whether a path has only plain names, and stays below its directory.
func inDirectory(dir string) bool {
	for name := range strings.SplitSeq(strings.TrimPrefix(path.Clean(dir), "/"), "/") {
		if name == ".." || strings.HasPrefix(name, ".") || name == "" {
			return false
		}
	}
	return true
}
