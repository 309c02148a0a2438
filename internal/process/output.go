package process

import (
	"os"
	"time"
)

// output collects the output of a program. It keeps everything that the program wrote before it
// exited, up to the limit, even if this process reads it late, since lost output could be a denial.
type output struct {
	bytes []byte
	left  int    // bytes that may still be kept
	full  func() // called once when the limit is exceeded
	cut   bool

	from *os.File // the read end of the pipe
	end  *os.File // the write end, for the program
	done chan struct{}
}

func newOutput(limit int, full func()) (*output, error) {
	from, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &output{left: limit, full: full, from: from, end: end}, nil
}

// start starts to read. It closes the write end, which the program has inherited.
func (o *output) start() {
	_ = o.end.Close()
	o.done = make(chan struct{})
	go func() {
		defer close(o.done)
		buffer := make([]byte, 32<<10)
		for {
			n, err := o.from.Read(buffer)
			o.keep(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
}

// finish waits until everything is read. It waits at most delay for other processes that keep the
// pipe open.
func (o *output) finish(delay time.Duration) {
	_ = o.from.SetReadDeadline(time.Now().Add(delay))
	<-o.done
	_ = o.from.SetReadDeadline(time.Time{})
	buffer := make([]byte, 32<<10)
	for !o.cut { // data that arrived but was not read in time
		n := readReady(o.from, buffer)
		if n <= 0 {
			return
		}
		o.keep(buffer[:n])
	}
}

func (o *output) close() {
	_ = o.end.Close()
	_ = o.from.Close()
}

// keep stores output up to the limit, and discards the rest. The first byte beyond the limit calls
// full.
func (o *output) keep(p []byte) {
	n := min(len(p), o.left)
	o.left -= n
	o.bytes = append(o.bytes, p[:n]...)
	if n < len(p) && !o.cut {
		o.cut = true
		o.full()
	}
}
