package mcpproxy

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"
)

// errTooLong is a line beyond maxMessage, which was read to its end and dropped.
var errTooLong = errors.New("the message is too long")

// lineReader reads messages, a line each.
type lineReader struct{ in *bufio.Reader }

func newLineReader(in io.Reader) lineReader { return lineReader{bufio.NewReaderSize(in, 64<<10)} }

// next returns the next line without its newline. The end of what can be read comes with
// the last line, where that has no newline.
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

// sink writes lines in the order in which they are sent, from one goroutine.
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

// send writes a line, which the caller must not use afterwards. It is dropped once the sink
// has ended.
func (s *sink) send(line []byte) {
	select {
	case s.lines <- line:
	case <-s.ended:
	case <-s.quit:
	}
}

// stop takes no more lines.
func (s *sink) stop() { s.once.Do(func() { close(s.quit) }) }

// close ends the sink once what was sent is written, or the reader is gone.
func (s *sink) close(patience time.Duration) {
	s.stop()
	select {
	case <-s.ended:
	case <-time.After(patience):
	}
}
