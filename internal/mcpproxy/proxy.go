package mcpproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options say which server a proxy serves. The zero Options have no server.
type Options struct {
	Name    string           // of the server, in the names of its tools; see [NameOf]
	Command []string         // the server, and its arguments
	URL     string           // of a server over streamable HTTP, in place of Command
	Header  http.Header      // sent with each request to URL
	Session string           // id of the session; empty means a new one
	Cwd     string           // where the server works; empty if unknown
	Env     []string         // of the server
	Notes   io.Writer        // standard error; safe for concurrent use
	Signals <-chan os.Signal // handed on to the server; nil for none
	// Tell is how often a client that waits for a person gets a notification of progress; 0
	// means each five seconds.
	Tell time.Duration
}

const (
	maxAsking = 64 // questions to the router at the same time, each for calls and results
)

// Proxy relays the messages of one client and one server, and has the router judge the
// tool calls among them. It is used once.
type Proxy struct {
	options  Options
	gate     *agenthook.Gate
	requests *requests
	client   *sink
	server   upstream
	calls    places // for calls that are asked about
	results  places // for results
}

// upstream is the way to the server. What the server sends goes to [Proxy.fromServer].
type upstream interface {
	// send hands one message on, which is not the caller's any more.
	send(m message)
	// abandoned says that the client waits no more for the response to a request.
	abandoned(key string)
}

// New makes a proxy. The gate stays the caller's.
func New(o Options, gate *agenthook.Gate) (*Proxy, error) {
	if !nameForm().MatchString(o.Name) || len(o.Name) > 64 {
		return nil, fmt.Errorf("the server's name %q must be of up to 64 letters, digits, '-', and single '_' between them: give another one with --name", o.Name)
	}
	if (len(o.Command) == 0) == (o.URL == "") {
		return nil, errors.New("give the command of the server behind --, or its --url")
	}
	if u, err := url.Parse(o.URL); o.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return nil, fmt.Errorf("--url must be an address such as https://mcp.example.com/mcp, not %q", clip(o.URL))
	}
	if o.Session == "" {
		o.Session = "mcp-" + o.Name + "-" + events.NewID()
	}
	if o.Tell == 0 {
		o.Tell = 5 * time.Second
	}
	return &Proxy{
		options: o, gate: gate, requests: newRequests(),
		calls: make(places, maxAsking), results: make(places, maxAsking),
	}, nil
}

// Session is the id of the proxy's session.
func (p *Proxy) Session() string { return p.options.Session }

// Run relays until the client or the server is gone, or ctx ends. It returns the exit code
// of the server, or 0 for one over HTTP. A read of stdin may still be under way when it
// returns.
func (p *Proxy) Run(ctx context.Context, stdin io.Reader, stdout io.Writer) (code int, err error) {
	p.client = newSink(stdout)
	defer p.client.close(afterExit)
	ctx, cancel := context.WithCancel(ctx)
	defer p.calls.close()
	defer cancel()
	if p.options.URL != "" {
		return p.runRemote(ctx, stdin), nil
	}
	return p.runChild(ctx, cancel, stdin)
}

// readClient hands the lines of a client on, until it has gone or ctx ends.
func (p *Proxy) readClient(ctx context.Context, stdin io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() { // ends with the process where the client never sends anything again
		defer close(gone)
		lines := newLineReader(stdin)
		for ctx.Err() == nil {
			line, err := lines.next()
			switch {
			case ctx.Err() != nil:
				return
			case errors.Is(err, errTooLong):
				p.client.send(failure(nil, codeInvalid, fmt.Sprintf("Refused by hook-agent: the message is longer than %d MiB", maxMessage>>20)))
				continue
			case !blank(line):
				p.fromClient(ctx, line)
			}
			if err != nil {
				return
			}
		}
	}()
	return gone
}

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// note tells the person who runs the agent something.
func (p *Proxy) note(format string, args ...any) {
	fmt.Fprintf(p.options.Notes, "hook-agent: %s\n", fmt.Sprintf(format, args...))
}

// places bound how much is done at the same time.
type places chan struct{}

// wait waits until all places are free. Nothing may begin meanwhile.
func (p places) wait() {
	p.close()
	for range cap(p) {
		<-p
	}
}

// close waits until all places are free, and takes them for good.
func (p places) close() {
	for range cap(p) {
		p <- struct{}{}
	}
}
