package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/commandline"
	"github.com/hookrouter/hookrouter/internal/completion"
	"github.com/hookrouter/hookrouter/internal/signals"
)

// flags are the program's flags. Each defaults to an environment variable.
type flags struct {
	Run        serve              `cmd:"" default:"withargs" help:"Serve the hooks of a file (the default)."`
	Validate   validate           `cmd:"" help:"Check a file; print its errors, or what its hooks register."`
	Test       testFiles          `cmd:"" help:"Run the tests of files, or events, and print what the hooks decide; needs no NATS."`
	Schema     schema             `cmd:"" help:"Print the JSON Schema of worker files, for editors."`
	Replay     replayEvents       `cmd:"" help:"Run events through the hooks of a file and print what they decide; needs no NATS."`
	Completion completion.Command `cmd:"" help:"Print a completion script for a shell."`
	Version    kong.VersionFlag   `help:"Print the version."`
}

// serve is the command that serves the hooks of a file.
type serve struct {
	Config     string     `env:"HOOK_WORKER_CONFIG" type:"path" placeholder:"FILE" help:"The worker file; this or --policy is needed."`
	Policy     string     `env:"HOOK_WORKER_POLICY" placeholder:"NAME" help:"Serve the signed policy of this name, as hookctl policy push stores it, in the place of a file."`
	PolicyKey  []string   `env:"HOOK_WORKER_POLICY_KEY" sep:"none" placeholder:"KEY|FILE" help:"Verifier key whose signature counts, or a file with some. Repeatable."`
	PolicyExec bool       `env:"HOOK_WORKER_POLICY_EXEC" help:"Let hooks of the policy run commands, call endpoints and write files."`
	PolicyDir  string     `name:"policy-cache" env:"HOOK_WORKER_POLICY_CACHE" type:"path" placeholder:"DIR" help:"Where the last good version is kept; default: hookrouter/policies in the user's cache directory."`
	NATSURL    string     `name:"nats-url" env:"HOOK_WORKER_NATS_URL,NATS_URL" placeholder:"URL" help:"NATS servers, comma-separated; default: the file's, else nats://127.0.0.1:4222."`
	NATSCreds  string     `name:"nats-creds" env:"HOOK_WORKER_NATS_CREDS,NATS_CREDS" type:"path" placeholder:"FILE" help:"Credentials file."`
	Prefix     string     `env:"HOOK_WORKER_PREFIX" placeholder:"TOKEN" help:"First token of every subject; default: the file's, else hooks."`
	StateURL   string     `name:"state-nats-url" env:"HOOK_WORKER_STATE_NATS_URL" placeholder:"URL" help:"NATS servers with the bucket of hook state, if it is in another account; default --nats-url."`
	StateCred  string     `name:"state-nats-creds" env:"HOOK_WORKER_STATE_NATS_CREDS" type:"path" placeholder:"FILE" help:"Credentials file for --state-nats-url."`
	HTTPListen string     `name:"http-listen" env:"HOOK_WORKER_HTTP_LISTEN" placeholder:"ADDRESS" help:"Listen address of /healthz, /readyz, /policy and /metrics, such as 127.0.0.1:8082; default: none."`
	LogLevel   slog.Level `env:"HOOK_WORKER_LOG_LEVEL" default:"info" help:"debug, info, warn or error; SIGUSR1 changes between debug and this one."`
	DryRun     bool       `help:"Print what starting would change on the bus, and start nothing."`
	JSON       bool       `name:"json" help:"With --dry-run: JSON output."`
}

// process is the environment of the program: its streams and signals.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	signals        signals.Signals
	remind         time.Duration // interval at which a failed reload is logged again; 0 means a minute
	poll           time.Duration // interval at which routers are polled for the policy; 0 means a second
}

// run runs the program.
func run(ctx context.Context, args []string, p process) error {
	var f flags
	command, err := commandline.Parse(&f, args, kong.Name("hook-worker"), kong.Writers(p.stdout, p.stderr),
		kong.Description("Serves the hooks that a YAML file describes."))
	if err != nil {
		return workerfiles.InputError(err)
	}
	if command == nil {
		return nil
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(p)
}
