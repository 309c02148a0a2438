package supervisor

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// ChildName is argument 0 of the second process. Configuration files and environment variables
// can't set it.
const ChildName = "hook-agent: asking"

// RelayName is the first argument of a hook-agent that runs as a proxy, without a second process.
const RelayName = "mcp-proxy"

// MaxDocument limits the message of an agent, in bytes.
const MaxDocument = 64 << 20

const (
	// slack is how much longer the first process waits than the second one.
	slack = 500 * time.Millisecond
	// longest is how long the second process may take to announce its timeout.
	longest = 10 * time.Minute
)

// Failure is the reason why there is no answer; Cause is nil if there is one.
type Failure struct {
	Document []byte // the document of the agent; nil if it is incomplete
	Cause    error
}

// Run answers the document on standard input, with a router of the same user or a second process
// with the same arguments, and exits with that answer. It returns only if there is no answer.
func Run(args []string) *Failure {
	f, out, code := run(args)
	if f.Cause != nil {
		return f
	}
	if _, err := (Output{os.Stdout}).Write(out); err != nil {
		return &Failure{f.Document, err}
	}
	os.Exit(code) //nolint:forbidigo // the program ends here, before main
	return nil
}

func run(args []string) (f *Failure, out []byte, code int) {
	began := time.Now()
	stdin := readAll(os.Stdin)
	r, err := askLocally(args, stdin)
	switch {
	case err == nil:
		_, _ = os.Stderr.Write(r.notes)
		return new(Failure), r.out, r.code
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Failure{stdin.sent(), errors.New("the router did not answer in time")}, nil, 0
	}
	return askBySecond(args, stdin, rest{r.eventID, time.Since(began)})
}

// askBySecond starts a second process that asks the router.
func askBySecond(args []string, stdin *input, r rest) (f *Failure, out []byte, code int) {
	f = new(Failure)
	self, err := os.Executable()
	if err != nil {
		return &Failure{Cause: err}, nil, 0
	}
	childIn, in, err1 := os.Pipe()
	from, childOut, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return &Failure{Cause: err}, nil, 0
	}
	second, err := start(self, append([]string{ChildName, r.String()}, args[1:]...), onOneProcessor(os.Environ()), childIn, childOut, os.Stderr)
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		return &Failure{Cause: errors.New("its second process can't be started: " + err.Error())}, nil, 0
	}
	go func() {
		<-stdin.done
		_, _ = in.Write(stdin.document) // if the process has exited, receive fails
		_ = in.Close()
	}()
	late := time.AfterFunc(longest, second.kill)
	defer late.Stop()
	out, code, err = receive(from, func(d time.Duration) { late.Reset(d + slack) })
	if err == nil {
		return f, out, code // the answer is complete: no need to wait for the process
	}
	f.Cause = err
	if how := second.wait(); how != "" {
		f.Cause = errors.New("its second process failed: " + how)
	}
	f.Document = stdin.sent()
	return f, nil, 0
}

// input is the input of the agent. document is valid once done is closed.
type input struct {
	done     chan struct{}
	document []byte
}

func readAll(from io.Reader) *input {
	i := &input{done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.document, _ = io.ReadAll(io.LimitReader(from, MaxDocument+1)) // parsing the document detects missing input
	}()
	return i
}

// sent returns the document, or nil while the agent is still sending it.
func (i *input) sent() []byte {
	select {
	case <-i.done:
		return i.document
	default:
		return nil
	}
}

// rest is the state that is passed to the second process as its first argument.
type rest struct {
	eventID string        // of the event if it was already sent; otherwise empty
	spent   time.Duration // of the agent's timeout
}

// String returns the argument. No part of it comes from the command line or an environment
// variable.
func (r rest) String() string { return strconv.FormatInt(r.spent.Milliseconds(), 10) + " " + r.eventID }

// ReadRest parses the argument.
func ReadRest(text string) (eventID string, spent time.Duration) {
	ms, id, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseInt(ms, 10, 64)
	return id, time.Duration(n) * time.Millisecond
}

// onOneProcessor returns the environment of the second process. With GOMAXPROCS=1 it starts faster,
// since the runtime has no other threads to wake. A value that the user set is kept.
func onOneProcessor(env []string) []string {
	if os.Getenv("GOMAXPROCS") != "" {
		return env
	}
	return append(env, "GOMAXPROCS=1")
}

// failure waits for a process and returns how it failed, for people; empty if it did not fail.
func failure(p *os.Process) string {
	if state, err := p.Wait(); err == nil && !state.Success() {
		return state.String()
	}
	return ""
}
