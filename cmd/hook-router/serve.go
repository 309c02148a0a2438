package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/procs"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
	"github.com/hookrouter/hookrouter/internal/version"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// serve is the command that runs the router.
type serve struct {
	NATSURL     string   `name:"nats-url" env:"HOOK_ROUTER_NATS_URL" placeholder:"URL" help:"Join this NATS instead of starting one; comma-separated. Default: NATS_URL, unless it is the address of --nats-listen or a flag of the embedded server is given."`
	NATSCreds   string   `name:"nats-creds" env:"HOOK_ROUTER_NATS_CREDS" type:"path" placeholder:"FILE" help:"Credentials file for --nats-url."`
	NATSListen  string   `name:"nats-listen" env:"HOOK_ROUTER_NATS_LISTEN" default:"127.0.0.1:4222" help:"Listen address of the embedded NATS server."`
	NATSCert    string   `name:"nats-tls-cert" env:"HOOK_ROUTER_NATS_TLS_CERT" type:"existingfile" placeholder:"FILE" help:"Its certificate: needed beyond loopback."`
	NATSKey     string   `name:"nats-tls-key" env:"HOOK_ROUTER_NATS_TLS_KEY" type:"existingfile" placeholder:"FILE" help:"Key of that certificate."`
	Auth        string   `env:"HOOK_ROUTER_AUTH" enum:"on,off" default:"on" help:"Whether the embedded NATS server makes credentials and asks for them: on or off."`
	AuthDir     string   `env:"HOOK_ROUTER_AUTH_DIR" type:"path" placeholder:"DIR" help:"Directory of those credentials; default auth in --store-dir."`
	Identities  string   `env:"HOOK_ROUTER_IDENTITIES" type:"existingfile" placeholder:"FILE" help:"With --nats-url: the identities.json of hookctl auth, which says who sends. Read again when it changes."`
	StoreDir    string   `env:"HOOK_ROUTER_STORE_DIR" type:"path" default:"./data" help:"Directory of the embedded NATS server."`
	HTTPListen  string   `name:"http-listen" env:"HOOK_ROUTER_HTTP_LISTEN" default:"127.0.0.1:8080" help:"Listen address of the console, /healthz and /readyz; empty: none."`
	AgentListen string   `name:"agent-http-listen" env:"HOOK_ROUTER_AGENT_HTTP_LISTEN" default:"127.0.0.1:8081" help:"Listen address of the HTTP API for agents, open while one has a token (hookctl auth add --http); empty: none."`
	AgentCert   string   `name:"agent-http-tls-cert" env:"HOOK_ROUTER_AGENT_HTTP_TLS_CERT" type:"existingfile" placeholder:"FILE" help:"Certificate of that API: needed beyond loopback."`
	AgentKey    string   `name:"agent-http-tls-key" env:"HOOK_ROUTER_AGENT_HTTP_TLS_KEY" type:"existingfile" placeholder:"FILE" help:"Key of that certificate."`
	AgentHosts  []string `name:"agent-http-hosts" env:"HOOK_ROUTER_AGENT_HTTP_HOSTS" placeholder:"HOST" help:"Host names of that API, besides loopback."`
	Prefix      string   `env:"HOOK_ROUTER_PREFIX" default:"hooks" help:"First token of every subject."`
	Replicas    int      `name:"jetstream-replicas" env:"HOOK_ROUTER_JETSTREAM_REPLICAS" default:"0" help:"Replicas of new buckets and of a new audit stream; 0: three on a cluster, else one."`

	MaxData        int           `env:"HOOK_ROUTER_MAX_DATA" default:"524288" help:"Largest event data, in bytes; more is refused with 413."`
	MaxReply       int           `env:"HOOK_ROUTER_MAX_REPLY" default:"524288" help:"Largest reply of a hook, in bytes; a larger one is invalid."`
	MaxInFlight    int           `env:"HOOK_ROUTER_MAX_IN_FLIGHT" default:"1024" help:"Requests in flight; more are refused with 429."`
	MaxPerSession  int           `env:"HOOK_ROUTER_MAX_PER_SESSION" default:"64" help:"The same, for one session."`
	MaxPerAgent    int           `env:"HOOK_ROUTER_MAX_PER_AGENT" default:"256" help:"The same, for one agent, where connections prove who sends."`
	ChainTimeout   time.Duration `env:"HOOK_ROUTER_CHAIN_TIMEOUT" default:"30s" help:"Time for a whole chain, then 504; the most an agent may ask for."`
	CollectTimeout time.Duration `env:"HOOK_ROUTER_COLLECT_TIMEOUT" default:"1s" help:"Default time for a collect."`
	DrainTimeout   time.Duration `env:"HOOK_ROUTER_DRAIN_TIMEOUT" default:"30s" help:"How long shutdown waits for accepted requests."`
	TTL            time.Duration `name:"ttl" env:"HOOK_ROUTER_TTL" default:"15s" help:"How long an instance stays registered without renewal."`
	PublishData    string        `env:"HOOK_ROUTER_PUBLISH_DATA" enum:"full,redacted,none" default:"full" help:"Event data that observers get: full, redacted or none."`

	InjectionSize   int `name:"injection-size-limit" env:"HOOK_ROUTER_INJECTION_SIZE_LIMIT" default:"10240" help:"Largest injection of a hook, in bytes; a session may lower it."`
	InjectionBudget int `name:"injection-budget-per-turn" env:"HOOK_ROUTER_INJECTION_BUDGET_PER_TURN" default:"10000" help:"Injection budget of a turn, in tokens of four characters; a session may lower it."`

	Guards        string        `env:"HOOK_ROUTER_GUARDS" type:"existingfile" placeholder:"FILE" help:"Guards that must be in force, and that no worker can weaken."`
	LabelMemory   time.Duration `env:"HOOK_ROUTER_LABEL_MEMORY" default:"1h" help:"How long labels of a session hold for all sessions of its proven sender, so that a new id escapes nothing; 0: off."`
	UnknownEvents string        `env:"HOOK_ROUTER_UNKNOWN_EVENTS" enum:"deny,warn,allow" default:"warn" help:"Events that are neither standard nor named by a hook: deny, warn (once for each name) or allow."`

	Approvals              string        `env:"HOOK_ROUTER_APPROVALS" enum:"on,off" default:"on" help:"Whether people are asked: on or off; off denies every approval request."`
	ApprovalRules          string        `env:"HOOK_ROUTER_APPROVAL_RULES" type:"existingfile" placeholder:"FILE" help:"Rules that answer approval requests before a person is asked."`
	ApprovalGroups         string        `env:"HOOK_ROUTER_APPROVAL_GROUPS" type:"existingfile" placeholder:"FILE" help:"People, models and groups of approvers, and whose approval the questions of hooks take."`
	Approvers              string        `env:"HOOK_ROUTER_APPROVERS" enum:"anyone,proven" default:"anyone" help:"Whose answers count: anyone's, or only those whose identity the connection proves."`
	ApprovalReplay         time.Duration `env:"HOOK_ROUTER_APPROVAL_REPLAY" default:"5m" help:"How long after an approval the same event, sent again, gets it again."`
	NATSAccounts           bool          `name:"nats-accounts" env:"HOOK_ROUTER_NATS_ACCOUNTS" help:"Agents and approvers have NATS accounts of their own: trust the sender that the NATS server reports."`
	MaxApprovals           int           `name:"max-questions" env:"HOOK_ROUTER_MAX_QUESTIONS" default:"50000" help:"Open approval requests; more are refused with 429."`
	MaxApprovalsPerSession int           `name:"max-questions-per-session" env:"HOOK_ROUTER_MAX_QUESTIONS_PER_SESSION" default:"100" help:"The same, for one session."`

	Audit        string        `env:"HOOK_ROUTER_AUDIT" enum:"strict,async,off" default:"strict" help:"Whether answers wait until their records are stored: strict or async; off records only people's decisions."`
	AuditTimeout time.Duration `env:"HOOK_ROUTER_AUDIT_TIMEOUT" default:"500ms" help:"How long an answer waits for its records; then 503."`
	AuditData    string        `env:"HOOK_ROUTER_AUDIT_DATA" enum:"digest,redacted,full" default:"redacted" help:"Event data in records: digest, redacted (with secrets masked) or full."`
	AuditRedact  string        `env:"HOOK_ROUTER_AUDIT_REDACT" type:"existingfile" placeholder:"FILE" help:"Rules for masking secrets in records."`
	AuditKey     string        `env:"HOOK_ROUTER_AUDIT_KEY" type:"path" placeholder:"FILE" help:"Key that signs the audit log, created if missing; default audit.key in --store-dir. All replicas share it."`
	NATSMonitor  string        `name:"nats-monitor" env:"HOOK_ROUTER_NATS_MONITOR" placeholder:"URL,..." help:"Monitoring addresses of --nats-url's servers: to prove that they sync each write to disk."`

	Console            string   `env:"HOOK_ROUTER_CONSOLE" enum:"on,off" default:"on" help:"Whether the console and its API are served: on or off."`
	ConsoleToken       string   `env:"HOOK_ROUTER_CONSOLE_TOKEN" placeholder:"TOKEN" help:"Access token of the console, or NAME:TOKEN for each person, comma-separated; empty: a random one, printed at start. Prefer the environment variable."`
	ConsoleFreeze      []string `env:"HOOK_ROUTER_CONSOLE_FREEZE" placeholder:"NAME" help:"People who may freeze agents in the console, besides the holder of the unnamed token."`
	ConsoleReveal      []string `env:"HOOK_ROUTER_CONSOLE_REVEAL" placeholder:"NAME" help:"The same, for seeing secrets in approval requests; each time is recorded."`
	ConsoleAudit       []string `env:"HOOK_ROUTER_CONSOLE_AUDIT" placeholder:"NAME" help:"The same, for searching the audit log."`
	ConsoleProxyHeader string   `env:"HOOK_ROUTER_CONSOLE_PROXY_HEADER" placeholder:"HEADER" help:"Header in which a proxy with the token of the person named proxy names its user."`
	ConsoleURL         string   `name:"console-url" env:"HOOK_ROUTER_CONSOLE_URL" placeholder:"URL" help:"Address of the console as people open it, such as https://hooks.example.com: an agent's denial then links to the page that tells why."`
	ConsoleHosts       []string `env:"HOOK_ROUTER_CONSOLE_HOSTS" placeholder:"HOST" help:"Host names of the console, besides loopback."`
	Webhook            []string `env:"HOOK_ROUTER_WEBHOOK" placeholder:"URL" help:"Webhook URLs that receive each approval request and its decision."`
	WebhookAfter       []string `env:"HOOK_ROUTER_WEBHOOK_AFTER" placeholder:"TIME=URL" help:"Webhook URLs for requests that nobody has answered for a time, such as 10m=https://pager.example/approvals."`
	WebhookLinks       bool     `env:"HOOK_ROUTER_WEBHOOK_LINKS" help:"Send a link for each option, which answers once without a token. Needs --console-url."`
	WebhookSecret      string   `env:"HOOK_ROUTER_WEBHOOK_SECRET" placeholder:"SECRET" help:"Secret that signs webhooks: whsec_ and 24 to 64 bytes in base64. Prefer the environment variable."`

	ForwardBaggage bool       `env:"HOOK_ROUTER_FORWARD_BAGGAGE" help:"Pass the W3C baggage of requests on to hooks; it may hold arbitrary data."`
	LogLevel       slog.Level `env:"HOOK_ROUTER_LOG_LEVEL" default:"info" help:"debug, info, warn or error; SIGUSR1 changes between debug and this one, PUT /loglevel to any."`

	located location // set by locate from NATS_URL
}

// run runs the router, and the worker of up unless it is nil, until ctx ends.
func (s serve) run(ctx context.Context, stdout, stderr io.Writer, sig signals.Signals, w *policyWorker) error {
	began := time.Now()
	server.TuneGC()
	level := &slog.LevelVar{}
	level.Set(s.LogLevel)
	lines := telemetry.LogLines(stderr, level)
	tel, err := telemetry.Start(ctx, telemetry.Options{Service: "hook-router", Version: version.String(), Prefix: s.Prefix, Exporters: otlp.Exporters(), Log: slog.New(lines)})
	if err != nil {
		return err
	}
	log := slog.New(tel.LogTo(lines, level))
	defer telemetry.ToggleLevel(level, sig.Level, log)()
	options := server.Options{Log: log, Level: level, Telemetry: tel}
	files := &ruleFiles{approvalRules: s.ApprovalRules, approvalGroups: s.ApprovalGroups, auditRedact: s.AuditRedact, pinned: s.Guards}
	if w != nil {
		files.guards, files.policy, options.Drained = w.guards, w.reload, w.shutdown
	}
	var changed <-chan struct{} // nil if no file is watched
	if watcher := files.watched(log); watcher != nil {
		defer watcher.Close()
		changed = watcher.Changed()
	}
	n, key, err := s.start(ctx, files, options)
	if err != nil {
		return errors.Join(err, tel.Stop(ctx))
	}
	watching, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { files.watch(watching, changed, sig.Reload, log) })
	wg.Go(func() { procs.Tune(watching, procs.Interval) })
	defer wg.Wait()
	defer done()
	defer signals.Stopping(ctx, func() {
		log.Info("stopping: no new requests are accepted", "drain_timeout", s.DrainTimeout.String())
	}, func() { log.Info("stopped") })()
	if w == nil {
		return n.Run(ctx, func() { s.sayReady(stdout, n, key, began) })
	}
	err = n.Run(ctx, func() { w.start(ctx, n, tel, log, func(s served) { w.ready(ctx, stdout, n, s, began, log) }) })
	return errors.Join(err, w.err)
}

// start reads the files that the flags name and starts the server. options are the other options of
// the server.
func (s serve) start(ctx context.Context, files *ruleFiles, options server.Options) (*server.Server, *signer.Key, error) {
	key, err := s.auditKey()
	if err != nil {
		return nil, nil, err
	}
	if err := files.load(); err != nil {
		return nil, nil, err
	}
	identities, err := s.identities(options.Log)
	if err != nil {
		return nil, nil, err
	}
	s.say(ctx, options.Log)
	n, err := server.Start(ctx, s.options(options, key, files, identities))
	return n, key, err
}

// options returns the options of the server: base, completed from the flags and their files.
func (s serve) options(base server.Options, key *signer.Key, files *ruleFiles, identities *identity.File) server.Options {
	return server.Options{
		Log: base.Log, Level: base.Level, Telemetry: base.Telemetry, Drained: base.Drained,
		NATS:       natsx.Options{URL: s.NATSURL, Prefix: s.Prefix, Creds: s.NATSCreds},
		Listen:     s.NATSListen,
		Cert:       s.NATSCert,
		Key:        s.NATSKey,
		AuthDir:    s.authDir(),
		ContextDir: natscontext.Dir(os.Getenv),
		StoreDir:   s.StoreDir,
		HTTPListen: s.HTTPListen,
		AgentHTTP:  server.AgentHTTP{Listen: s.AgentListen, Cert: s.AgentCert, Key: s.AgentKey, Hosts: s.AgentHosts},
		NoConsole:  s.Console == "off", ConsoleToken: s.ConsoleToken, ConsoleKey: filepath.Join(s.StoreDir, "console.key"),
		Console: console.Options{Hosts: s.ConsoleHosts, MayFreeze: s.ConsoleFreeze, MayReveal: s.ConsoleReveal, MayAudit: s.ConsoleAudit, ProxyHeader: s.ConsoleProxyHeader},
		Webhook: s.webhooks(),
		Router: router.Options{
			Version: version.Number(), Replicas: s.Replicas, MaxReply: s.MaxReply, MaxInFlight: s.MaxInFlight, DrainTimeout: s.DrainTimeout,
			Dispatch: dispatch.Options{
				MaxData: s.MaxData, MaxPerSession: s.MaxPerSession, MaxPerAgent: s.MaxPerAgent, ChainTimeout: s.ChainTimeout, CollectTimeout: s.CollectTimeout,
				PublishData: dispatch.PublishData(s.PublishData), Injection: verdict.Limits{Size: s.InjectionSize, Budget: s.InjectionBudget},
				NoApprovals: s.Approvals == "off", ReplayWindow: s.ApprovalReplay, ConsoleURL: strings.TrimSuffix(s.ConsoleURL, "/"), Rules: files, UnknownEvents: dispatch.UnknownEvents(s.UnknownEvents),
			},
			Approvals: approvals.Options{MaxOpen: s.MaxApprovals, MaxPerSession: s.MaxApprovalsPerSession, ProvenOnly: s.Approvers == "proven"},
			Audit: auditlog.Options{
				Recorder: recorder.Options{Mode: recorder.Mode(s.Audit), Timeout: s.AuditTimeout},
				View:     recorder.View{Data: recorder.Data(s.AuditData), Mask: files.masker()}, Key: key,
			},
			Registry: registry.Options{TTL: s.TTL, Labels: labels.Options{Memory: s.labelMemory()}},
			People:   files.people, Guards: files.guards, ApprovalMask: files.approvalMasker(), Identities: identities, Accounts: s.NATSAccounts, ForwardBaggage: s.ForwardBaggage,
		},
	}
}

// labelMemory converts --label-memory for the router, in whose options 0 means the default.
func (s serve) labelMemory() time.Duration {
	if s.LabelMemory == 0 {
		return -1
	}
	return s.LabelMemory
}
