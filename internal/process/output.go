package process

import (
	"os"
	"time"
)

// output collects what a program prints. All that the program wrote before it ended is kept up to
// the limit, however late this process comes to read it: output that is lost could be a denial.
type output struct {
	bytes []byte
	left  int    // how much more is kept
	full  func() // called once there is more
	cut   bool

	from *os.File // the end of the pipe that is read
	end  *os.File // the program's end
	done chan struct{}
}

func newOutput(limit int, full func()) (*output, error) {
	from, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &output{left: limit, full: full, from: from, end: end}, nil
}

// start reads what is written from now on. The program has its end.
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

// finish waits until everything is read, and at most delay for others that hold the pipe.
func (o *output) finish(delay time.Duration) {
	_ = o.from.SetReadDeadline(time.Now().Add(delay))
	<-o.done
	_ = o.from.SetReadDeadline(time.Time{})
	buffer := make([]byte, 32<<10)
	for !o.cut { // what came, and was not read in time
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

// keep goes on beyond the limit, so that the program is killed instead of told.
func (o *output) keep(p []byte) {
	n := min(len(p), o.left)
	o.left -= n
	o.bytes = append(o.bytes, p[:n]...)
	if n < len(p) && !o.cut {
		o.cut = true
		o.full()
	}
}
