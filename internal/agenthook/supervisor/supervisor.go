package supervisor

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// ChildName is the name of the second process, as the operating system shows it. Nobody
// can pass it in a configuration or a variable.
const ChildName = "hook-agent: asking"

// RelayName is the first argument of a hook-agent that relays messages, and answers for
// itself.
const RelayName = "mcp-proxy"

// MaxDocument bounds the message of an agent, in bytes.
const MaxDocument = 64 << 20

const (
	// slack is how much later than the second process the first one gives up.
	slack = 500 * time.Millisecond
	// longest is how long the second process has to say when it will be done.
	longest = 10 * time.Minute
)

// Failure is why the second process gave no answer.
type Failure struct {
	Document []byte // what the agent has sent so far
	Cause    error
}

// Run has a second process with the same arguments answer what is on the standard input,
// and ends this process with its answer. It returns where there is none.
func Run(args []string) *Failure {
	f, out, code := run(args)
	if f.Cause != nil {
		return f
	}
	if _, err := (Output{os.Stdout}).Write(out); err != nil {
		return &Failure{f.Document, err}
	}
	os.Exit(code) //nolint:forbidigo // this is the end of the program, before main
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

// askBySecond has a second process ask.
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
		_, _ = in.Write(stdin.document) // a process that is gone is noticed below
		_ = in.Close()
	}()
	late := time.AfterFunc(longest, second.kill)
	defer late.Stop()
	out, code, err = receive(from, func(d time.Duration) { late.Reset(d + slack) })
	if err == nil {
		return f, out, code // complete: its end need not be waited for
	}
	f.Cause = err
	if how := second.wait(); how != "" {
		f.Cause = errors.New("its second process failed: " + how)
	}
	f.Document = stdin.sent()
	return f, nil, 0
}

// input is what the agent sends. Its document is read once done is closed.
type input struct {
	done     chan struct{}
	document []byte
}

func readAll(from io.Reader) *input {
	i := &input{done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.document, _ = io.ReadAll(io.LimitReader(from, MaxDocument+1)) // what is missing is missed by who reads it
	}()
	return i
}

// sent is the document, or nothing while the agent is still sending.
func (i *input) sent() []byte {
	select {
	case <-i.done:
		return i.document
	default:
		return nil
	}
}

// rest is what the second process goes on with: the first argument after its name.
type rest struct {
	eventID string        // under which the event was sent already; empty if it was not
	spent   time.Duration // of the time that the agent waits
}

// String is the argument. Nothing of it comes from the command line or a variable.
func (r rest) String() string { return strconv.FormatInt(r.spent.Milliseconds(), 10) + " " + r.eventID }

// ReadRest reads the argument.
func ReadRest(text string) (eventID string, spent time.Duration) {
	ms, id, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseInt(ms, 10, 64)
	return id, time.Duration(n) * time.Millisecond
}

// onOneProcessor is an environment for the second process, which starts faster where the
// runtime has no other threads to wake. A value of the user's own stays.
func onOneProcessor(env []string) []string {
	if os.Getenv("GOMAXPROCS") != "" {
		return env
	}
	return append(env, "GOMAXPROCS=1")
}

// failure waits for a process and returns how it failed, as a person reads it; empty where
// it did not.
func failure(p *os.Process) string {
	if state, err := p.Wait(); err == nil && !state.Success() {
		return state.String()
	}
	return ""
}
