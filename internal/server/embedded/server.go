package embedded

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
)

// MaxPayload is the maximum size of a message, in bytes. It is far above the router's own limits,
// so that an oversized answer of a hook is reported as such and does not close the hook's
// connection.
const MaxPayload = 4 << 20

// maxStore is the maximum disk usage of JetStream, in bytes.
const maxStore = 64 << 30

// Options configure the server. Only StoreDir is required. The zero value of Listen does not
// listen.
type Options struct {
	// Listen is host:port; empty means in-process connections only. Port 0 picks one.
	Listen string
	// Cert and Key are the paths of the server's certificate and its key; empty means no TLS.
	Cert, Key string
	// StoreDir is the directory for JetStream's files. It is created if missing.
	StoreDir string
	// ServerName is the name for clusters and monitoring; empty means a random one.
	ServerName string
	// Cluster joins servers of the same name; empty means a single server.
	Cluster Cluster
	// Auth configures who may connect; the zero Auth lets anybody connect.
	Auth Auth
	// NoSync does not sync writes to disk. It is for tests without power cuts.
	NoSync bool
	// Log gets the server's warnings and errors, of those about clients 20 a second; nil discards
	// them.
	Log *slog.Logger
	// Flooded is called if the server refuses more than 1,000 messages in a second, since their senders
	// have no right to their subjects. It must not block. Nil means no callback.
	Flooded func()
}

// Cluster connects several servers.
type Cluster struct {
	Name   string
	Listen string   // host:port of the routes
	Routes []string // host:port of the other servers
}

// Server is a running nats-server.
type Server struct {
	*server.Server
	lock *flock.Flock // of the store directory
	bus  string       // public key or name of the routers' account

	mu   sync.Mutex             // guards held, and changes of accounts
	held map[Sender]*time.Timer // senders on hold, with the timers that end the holds; nil once stopped
}

// Start starts a server and waits until it accepts connections. Its error says what the operator
// can change. Call [Server.Stop].
func Start(o Options) (*Server, error) {
	options := &server.Options{
		ServerName: o.ServerName,
		DontListen: o.Listen == "",
		NoSigs:     true,
		MaxPayload: MaxPayload,
		JetStream:  true,
		StoreDir:   o.StoreDir,
		SyncAlways: !o.NoSync,

		AuthTimeout:        5, // seconds, as for clients: the default of 2 disconnects them under load
		JetStreamMaxStore:  maxStore,
		JetStreamMaxMemory: 256 << 20,
	}
	lock, err := lockStore(o.StoreDir)
	if err != nil {
		return nil, err
	}
	s, err := start(options, o)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	s.lock = lock
	return s, nil
}

func start(options *server.Options, o Options) (*Server, error) {
	if o.Listen != "" {
		var err error
		if options.Host, options.Port, err = splitAddr(o.Listen); err != nil {
			return nil, fmt.Errorf("start the embedded NATS server: %w", err)
		}
	}
	if o.Cluster.Name != "" {
		if err := o.Cluster.set(options); err != nil {
			return nil, fmt.Errorf("start the embedded NATS server: %w", err)
		}
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("start the embedded NATS server: %w", err)
		}
		options.TLS, options.TLSConfig = true, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if err := errors.Join(o.Auth.set(options), o.Auth.moveStreams(o.StoreDir)); err != nil {
		return nil, fmt.Errorf("start the embedded NATS server: %w", err)
	}
	ns, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("start the embedded NATS server: %w", err)
	}
	log := newLogger(o)
	ns.SetLoggerV2(log, false, false, false)
	go ns.Start()
	if err := ready(ns, log, o); err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		return nil, err
	}
	return &Server{Server: ns, bus: cmp.Or(o.Auth.Routers, globalAccount), held: map[Sender]*time.Timer{}}, nil
}

func ready(ns *server.Server, log *logger, o Options) error {
	const spin = 20 * time.Microsecond // ReadyForConnections does not sleep in so short a time
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if ns.ReadyForConnections(spin) {
			return nil
		}
		select {
		case cause := <-log.fatal:
			return fmt.Errorf("start the embedded NATS server: %w", explain(cause, o))
		case <-tick.C:
		}
	}
	return errors.New("start the embedded NATS server: it is not ready after 20 s")
}

// InUseError means that another server uses the address or the store directory.
type InUseError struct {
	Problem string // what is in use; ends with the advice to stop the other server
	Choose  string // how to choose another address or directory
	Join    string // how to use the other server instead
}

// Error returns the problem and all remedies.
func (e *InUseError) Error() string { return e.Problem + ", " + e.Choose + ", or " + e.Join }

// explain adds the likely cause if the server could not listen.
func explain(cause string, o Options) error {
	if o.Listen == "" {
		return errors.New(cause)
	}
	l, err := net.Listen("tcp", o.Listen)
	if err == nil {
		_ = l.Close()
		return errors.New(cause)
	}
	return &InUseError{
		Problem: fmt.Sprintf("%v: is another hook-router or nats-server running? Stop it first", err),
		Choose:  "choose another address with --nats-listen",
		Join:    "join it with --nats-url nats://" + o.Listen,
	}
}

// lockStore creates the store directory and locks it for this process, since two servers on the
// same files would lose acknowledged writes. The lock ends with the process.
func lockStore(dir string) (*flock.Flock, error) {
	if dir == "" {
		return nil, errors.New("the embedded NATS server needs a store directory")
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	var locked bool
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		locked, err = lock.TryLock()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("store directory %s is not writable: %w: choose another with --store-dir", dir, err)
	case !locked:
		return nil, &InUseError{
			Problem: fmt.Sprintf("store directory %s is in use by another hook-router: stop that one first", dir),
			Choose:  "choose another with --store-dir",
			Join:    "join it with --nats-url",
		}
	}
	return lock, nil
}

func (c Cluster) set(options *server.Options) error {
	host, port, err := splitAddr(c.Listen)
	if err != nil {
		return err
	}
	options.Cluster = server.ClusterOpts{Name: c.Name, Host: host, Port: port, NoAdvertise: true}
	for _, r := range c.Routes {
		options.Routes = append(options.Routes, server.RoutesFromStr("nats-route://"+r)...)
	}
	return nil
}

func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("address %q is not host:port", addr)
	}
	port = cmp.Or(port, server.RANDOM_PORT)
	return host, port, nil
}

// Stop shuts the server down and waits until its files are closed.
func (s *Server) Stop() {
	s.endHolds()
	s.Shutdown()
	s.WaitForShutdown()
	_ = s.lock.Close()
}
