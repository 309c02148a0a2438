package resident

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Timeouts for a program to exit, after the end of its standard input and after SIGTERM. Tests
// shorten them.
var (
	endWithin  = 3 * time.Second
	termWithin = 2 * time.Second
)

// pipeSize is a number of bytes that always fits into a pipe.
const pipeSize = 32 << 10

// readWithin limits the time to read the remaining output of a program that exited.
const readWithin = 100 * time.Millisecond

// talk is the conversation with one run of the program.
type talk struct {
	*Process
	slots chan struct{} // one element per open question
	input chan *os.File // the program's input; taken while a goroutine writes to it
	over  chan struct{} // closed when no more answers arrive
	since time.Time
	stop  context.CancelCauseFunc // kills the program
	ctx   context.Context

	mu      sync.Mutex // guards the fields below
	open    map[string]*question
	overdue int   // number of overdue open questions
	unread  int   // bytes of open questions: an upper bound of what the program has not read
	heard   bool  // whether the program has answered anything
	why     error // why the conversation ended; nil while it lasts
}

// question is an open question.
type question struct {
	answer  chan answer // capacity 1
	bytes   int
	due     time.Time
	overdue bool
}

// answer is the outcome of a question.
type answer struct {
	result jsontext.Value
	err    error
}

var (
	errNotAsked = errors.New("the program ended before it was asked")
	errHangs    = errors.New("it hangs: it did not answer in time (a program that writes its answer must flush it)")
)

func newTalk(p *Process) *talk {
	t := &talk{
		Process: p, slots: make(chan struct{}, p.InFlight), input: make(chan *os.File, 1),
		over: make(chan struct{}), since: time.Now(), open: map[string]*question{},
	}
	t.ctx, t.stop = context.WithCancelCause(context.Background())
	return t
}

// ask asks a question. The caller has taken a slot, which is freed when the question is answered,
// even if ask has returned.
func (t *talk) ask(ctx context.Context, text []byte) (jsontext.Value, error) {
	id := rand.Text()
	text = line(id, text)
	q := &question{answer: make(chan answer, 1), bytes: len(text), due: time.Now().Add(t.Timeout)}
	t.mu.Lock()
	if t.why != nil {
		t.mu.Unlock()
		return nil, errNotAsked
	}
	t.open[id] = q
	t.unread += q.bytes
	fits := t.unread <= pipeSize
	t.mu.Unlock()
	if err := t.write(ctx, text, q.due, fits); err != nil {
		t.leave(id, q)
		return nil, fmt.Errorf("it has not read the call in time: %w", err)
	}
	select {
	case a := <-q.answer:
		return a.result, a.err
	case <-ctx.Done():
		t.leave(id, q)
		return nil, fmt.Errorf("it has not answered in time (a program that writes its answer must flush it): %w", context.Cause(ctx))
	}
}

// line returns a question with its id on one line. It replaces line breaks with spaces: in JSON,
// unescaped line breaks occur only as whitespace.
func line(id string, text []byte) []byte {
	buf := make([]byte, 0, len(text)+len(id)+16)
	buf = append(append(append(buf, `{"id":"`...), id...), `",`...)
	buf = append(buf, bytes.TrimSpace(text)[1:]...)
	for i, c := range buf {
		if c == '\n' || c == '\r' {
			buf[i] = ' '
		}
	}
	return append(buf, '\n')
}

// write writes a complete line. If the program does not read it in time, it is killed, since a
// partially written line can't be undone. A line that fits into the pipe needs no deadline.
func (t *talk) write(ctx context.Context, text []byte, due time.Time, fits bool) error {
	select {
	case input := <-t.input:
		if !fits {
			_ = input.SetWriteDeadline(due)
			defer func() { _ = input.SetWriteDeadline(time.Time{}) }()
		}
		if n, err := input.Write(text); n > 0 && err != nil {
			t.stop(errHangs)
		}
		t.input <- input
		return nil // an error is reported by the missing answer
	case <-t.over: // the answer has the reason
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave is called when ask stops waiting for an answer, which may still arrive.
func (t *talk) leave(id string, q *question) {
	time.AfterFunc(time.Until(q.due), func() { t.expire(id) })
}

// expire marks an unanswered question as overdue. When InFlight questions are overdue, the program
// hangs and is killed.
func (t *talk) expire(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.open[id]
	if q == nil {
		return
	}
	if left := t.Startup - time.Since(t.since); !t.heard && left > 0 {
		time.AfterFunc(left, func() { t.expire(id) })
		return
	}
	q.overdue = true
	if t.overdue++; t.overdue == t.InFlight {
		t.stop(errHangs)
	}
}

// take removes an answered question and frees its slot. It returns nil if the question is not open.
func (t *talk) take(id string) *question {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.open[id]
	if q == nil {
		return nil
	}
	delete(t.open, id)
	t.unread -= q.bytes
	if q.overdue {
		t.overdue--
	}
	t.heard = true
	<-t.slots
	return q
}

// answered reports whether the program has answered anything.
func (t *talk) answered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard
}

// run runs the program until it exits, and returns how it ended.
func (t *talk) run() (err error) {
	defer func() { t.end(err) }()
	defer t.stop(nil)
	if t.Ready != nil {
		if err := t.Ready(); err != nil {
			return err
		}
	}
	in, questions, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	answers, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, questions.Close())
	}
	signals := make(chan os.Signal, 1)
	var others sync.WaitGroup
	others.Go(func() { t.read(answers) })
	others.Go(func() { t.quit(questions, signals) })

	t.input <- questions
	program, said := t.Program, &lastLine{notices: t.notices}
	program.Stdin, program.Stdout, program.Stderr, program.Signals = in, out, said, signals
	end, err := program.Run(t.ctx)
	said.end()
	t.stop(nil)
	_ = questions.Close() // unblocks a writer
	_ = out.Close()
	_ = answers.SetReadDeadline(time.Now().Add(readWithin)) // a surviving child may keep the pipe open
	others.Wait()
	_ = answers.Close()
	switch {
	case err == nil && said.line != "":
		return fmt.Errorf("it ended: exit status %d: %s", end.Code, said.line)
	case err == nil:
		return fmt.Errorf("it ended: exit status %d", end.Code)
	case said.line != "":
		return fmt.Errorf("%w: %s", err, said.line)
	}
	return err
}

// end fails all open questions.
func (t *talk) end(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.why = why
	close(t.over)
	for _, q := range t.open {
		q.answer <- answer{err: fmt.Errorf("no answer: %w", why)}
	}
	t.open = nil
}

// read reads answers until the output ends.
func (t *talk) read(answers *os.File) {
	lines := bufio.NewScanner(answers)
	lines.Buffer(make([]byte, 0, min(4<<10, t.MaxLine)), t.MaxLine)
	for lines.Scan() {
		t.hear(lines.Bytes())
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		t.stop(fmt.Errorf("a line of its output is longer than %d bytes, the limit max_output", t.MaxLine))
	}
}

// quit ends the program when the process is closed.
func (t *talk) quit(questions *os.File, signals chan<- os.Signal) {
	select {
	case <-t.Process.stop:
	case <-t.ctx.Done():
		return
	}
	_ = questions.Close()
	select {
	case <-time.After(endWithin):
		signals <- syscall.SIGTERM
	case <-t.ctx.Done():
		return
	}
	select {
	case <-time.After(termWithin):
		t.stop(errClosed)
	case <-t.ctx.Done():
	}
}
