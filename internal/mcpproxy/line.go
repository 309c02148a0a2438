package mcpproxy

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"
)

// errTooLong means that a line longer than maxMessage was skipped.
var errTooLong = errors.New("the message is too long")

// lineReader reads messages, one per line.
type lineReader struct{ in *bufio.Reader }

func newLineReader(in io.Reader) lineReader { return lineReader{bufio.NewReaderSize(in, 64<<10)} }

// next returns the next line without its newline. For a last line without a newline, it returns
// both the line and io.EOF.
func (r lineReader) next() (line []byte, err error) {
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxMessage; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil && tooLong:
			return nil, errTooLong
		case err == nil:
			return line[:len(line)-1], nil
		}
		return line, err
	}
}

// sink writes lines in the order in which they are sent. One goroutine writes all lines.
type sink struct {
	lines chan []byte
	quit  chan struct{} // closed to end the goroutine
	ended chan struct{} // closed after the last write
	once  sync.Once
}

func newSink(out io.Writer) *sink {
	s := &sink{lines: make(chan []byte), quit: make(chan struct{}), ended: make(chan struct{})}
	go s.run(out)
	return s
}

func (s *sink) run(out io.Writer) {
	defer close(s.ended)
	for {
		select {
		case line := <-s.lines:
			if _, err := out.Write(append(line, '\n')); err != nil {
				return
			}
		case <-s.quit:
			return
		}
	}
}

// send writes a line, which the caller must not use afterwards. After the sink has ended, it drops
// the line.
func (s *sink) send(line []byte) {
	select {
	case s.lines <- line:
	case <-s.ended:
	case <-s.quit:
	}
}

// stop makes the sink stop accepting lines.
func (s *sink) stop() { s.once.Do(func() { close(s.quit) }) }

// close stops the sink, and waits up to patience for the write in progress.
func (s *sink) close(patience time.Duration) {
	s.stop()
	select {
	case <-s.ended:
	case <-time.After(patience):
	}
}
