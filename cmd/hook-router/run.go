package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/node"
	"github.com/hookrouter/hookrouter/internal/router"
)

// version is set by the build for a release.
var version = "0.1.0"

// flags are those of the program; each defaults to an environment variable.
type flags struct {
	Serve   serve            `cmd:"" default:"withargs" help:"Run the router (the default)."`
	Demo    demo             `cmd:"" help:"One agent turn through real hooks, all in this process."`
	Version kong.VersionFlag `help:"Print the version."`
}

// serve is the router itself.
type serve struct {
	NATSURL    string `name:"nats-url" env:"HOOK_ROUTER_NATS_URL" placeholder:"URL" help:"Join this NATS instead of starting one; comma-separated."`
	NATSCreds  string `name:"nats-creds" env:"HOOK_ROUTER_NATS_CREDS" type:"path" placeholder:"FILE" help:"Credentials file for --nats-url."`
	NATSListen string `name:"nats-listen" env:"HOOK_ROUTER_NATS_LISTEN" default:"127.0.0.1:4222" help:"Where the embedded NATS listens."`
	StoreDir   string `env:"HOOK_ROUTER_STORE_DIR" type:"path" default:"./data" help:"Where the embedded NATS keeps its files."`
	HTTPListen string `name:"http-listen" env:"HOOK_ROUTER_HTTP_LISTEN" default:"127.0.0.1:8080" help:"Where /healthz and /readyz are served; empty for nowhere."`
	Prefix     string `env:"HOOK_ROUTER_PREFIX" default:"hooks" help:"First token of every subject."`
	Replicas   int    `name:"jetstream-replicas" env:"HOOK_ROUTER_JETSTREAM_REPLICAS" default:"0" help:"Copies of the registry's bucket, where it has to be made; 0: three on a cluster, else one."`

	MaxData        int           `env:"HOOK_ROUTER_MAX_DATA" default:"524288" help:"Largest event data, in bytes."`
	MaxReply       int           `env:"HOOK_ROUTER_MAX_REPLY" default:"524288" help:"Largest reply of a hook, in bytes."`
	MaxInFlight    int           `env:"HOOK_ROUTER_MAX_IN_FLIGHT" default:"1024" help:"Requests of agents under way; the next is refused with 429."`
	MaxPerSession  int           `env:"HOOK_ROUTER_MAX_PER_SESSION" default:"64" help:"The same for one session."`
	ChainTimeout   time.Duration `env:"HOOK_ROUTER_CHAIN_TIMEOUT" default:"30s" help:"Time for a whole chain; the most an agent may ask for."`
	CollectTimeout time.Duration `env:"HOOK_ROUTER_COLLECT_TIMEOUT" default:"1s" help:"Time for a collect that names none."`
	DrainTimeout   time.Duration `env:"HOOK_ROUTER_DRAIN_TIMEOUT" default:"30s" help:"How long to wait at the end for what was taken."`
	TTL            time.Duration `name:"ttl" env:"HOOK_ROUTER_TTL" default:"15s" help:"How long a hook's instance lives without renewing."`
	PublishData    string        `env:"HOOK_ROUTER_PUBLISH_DATA" enum:"full,redacted,none" default:"full" help:"What of the data observers of events get: full, redacted or none."`
	LogLevel       slog.Level    `env:"HOOK_ROUTER_LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var f flags
	exited := false
	parser, err := kong.New(&f,
		kong.Name("hook-router"),
		kong.Description("Routes the lifecycle events of AI agents through hooks, over NATS."),
		kong.Vars{"version": buildVersion()},
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { exited = true }),
	)
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if exited { // --help or --version
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w (see hook-router --help)", err)
	}
	if command.Command() == "demo" {
		return f.Demo.run(ctx, stdout)
	}
	return f.Serve.run(ctx, stdout, stderr)
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}

func (s serve) run(ctx context.Context, stdout, stderr io.Writer) error {
	began := time.Now()
	if s.MaxData < 1 || s.MaxReply < 1 || s.MaxInFlight < 1 || s.MaxPerSession < 1 || s.ChainTimeout <= 0 || s.CollectTimeout <= 0 || s.TTL <= 0 {
		return errors.New("limits must be positive")
	}
	node.TuneGC()
	log := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: s.LogLevel}))
	if s.NATSURL == "" && !loopback(s.NATSListen) {
		log.Warn("the embedded NATS asks nobody for credentials and listens beyond loopback: whoever reaches it can register hooks and emit",
			"nats_listen", s.NATSListen)
	}
	n, err := node.Start(ctx, node.Options{
		NATS:       bus.Options{URL: s.NATSURL, Prefix: s.Prefix, Creds: s.NATSCreds},
		Listen:     s.NATSListen,
		StoreDir:   s.StoreDir,
		HTTPListen: s.HTTPListen,
		Router: router.Options{
			Version: version, Replicas: s.Replicas,
			MaxData: s.MaxData, MaxReply: s.MaxReply, MaxInFlight: s.MaxInFlight, MaxPerSession: s.MaxPerSession,
			ChainTimeout: s.ChainTimeout, CollectTimeout: s.CollectTimeout, DrainTimeout: s.DrainTimeout,
			PublishData: router.PublishData(s.PublishData), TTL: s.TTL,
		},
		Log: log,
	})
	if err != nil {
		return err
	}
	return n.Run(ctx, func() {
		where := s.NATSURL
		if where == "" {
			where = n.ClientURL()
		}
		fmt.Fprintf(stdout, "hook-router %s is ready after %d ms\n  NATS    %s\n  prefix  %s\n",
			version, time.Since(began).Milliseconds(), bus.RedactURL(where), s.Prefix)
		if addr := n.HTTPAddr(); addr != "" {
			fmt.Fprintf(stdout, "  health  http://%s/readyz\n", addr)
		}
	})
}

// loopback reports whether an address can be reached from this machine only.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true // refused later, with a reason
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
