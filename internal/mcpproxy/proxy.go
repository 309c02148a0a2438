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

// Options configure the server of a proxy. The zero Options are invalid, since they have no server.
type Options struct {
	Name    string           // of the server, as it appears in the names of its tools; see [NameOf]
	Command []string         // the server, and its arguments
	URL     string           // of a server over streamable HTTP, instead of Command
	Header  http.Header      // sent with each request to URL
	Session string           // id of the session; empty means a new one
	Cwd     string           // working directory of the server; empty if unknown
	Env     []string         // of the server
	Notes   io.Writer        // standard error; safe for concurrent use
	Signals <-chan os.Signal // forwarded to the server; nil for none
	// Tell is the interval of progress notifications to a client that waits for a person; 0 means five
	// seconds.
	Tell time.Duration
}

const (
	maxAsking = 64 // concurrent questions to the router about calls, and about results
)

// Proxy relays the messages of one client and one server, and asks the router about tool calls and
// reads. It must be used only once.
type Proxy struct {
	options  Options
	gate     *agenthook.Gate
	requests *requests
	client   *sink
	server   upstream
	calls    places // for questions about calls
	results  places // for questions about results
}

// upstream is the connection to the server. Messages of the server go to [Proxy.fromServer].
type upstream interface {
	// send sends a message to the server. The caller must not use the message afterwards.
	send(m message)
	// abandoned is called when the client no longer waits for the response to a request.
	abandoned(key string)
}

// New returns a proxy. The caller still owns the gate.
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

// Session returns the id of the proxy's session.
func (p *Proxy) Session() string { return p.options.Session }

// Run relays messages until the client or the server is gone, or ctx ends. It returns the exit code
// of the server. For a server over HTTP, it returns 0, or 128 plus the number of the signal that
// ended it. A read of stdin may still be in progress when Run returns.
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

// readClient handles the lines of the client until the client is gone or ctx ends.
func (p *Proxy) readClient(ctx context.Context, stdin io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() { // ends with the process if the client never sends anything again
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

// note writes a message for the person who runs the agent.
func (p *Proxy) note(format string, args ...any) {
	fmt.Fprintf(p.options.Notes, "hook-agent: %s\n", fmt.Sprintf(format, args...))
}

// places is a semaphore.
type places chan struct{}

// wait waits until all places are free. No other goroutine may take one meanwhile.
func (p places) wait() {
	p.close()
	for range cap(p) {
		<-p
	}
}

// close waits until all places are free, and takes them permanently.
func (p places) close() {
	for range cap(p) {
		p <- struct{}{}
	}
}
