package natstest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// Stall dials connections on which messages of some subjects can be held back,
// as a consumer that stands still would: everything else goes on arriving. It is
// an option of a client of a listening server, or see [Stall.InProcess].
type Stall struct {
	// Subject is what the subjects to hold back begin with.
	Subject string
	stopped atomic.Bool
}

// Option makes a client use the stall.
func (s *Stall) Option() nats.Option { return nats.SetCustomDialer(s) }

// Stop holds the messages back that arrive from now on.
func (s *Stall) Stop() { s.stopped.Store(true) }

// Go lets them go on, in their order, before whatever arrives next.
func (s *Stall) Go() { s.stopped.Store(false) }

// Dial connects, for [nats.SetCustomDialer].
func (s *Stall) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address) //nolint:noctx // the interface has no context
	if err != nil {
		return nil, err
	}
	return s.on(conn), nil
}

// InProcess makes the clients that connect to a server in process use the stall, as in a
// [Bubble].
func (s *Stall) InProcess(server nats.InProcessConnProvider) nats.InProcessConnProvider {
	return &stalledServer{server, s}
}

func (s *Stall) on(conn net.Conn) net.Conn {
	return &stalled{Conn: conn, stall: s, in: bufio.NewReaderSize(conn, 64<<10)}
}

// stalledServer is a server whose connections in process use a stall.
type stalledServer struct {
	server nats.InProcessConnProvider
	stall  *Stall
}

// InProcessConn connects, for [nats.InProcessServer].
func (s *stalledServer) InProcessConn() (net.Conn, error) {
	conn, err := s.server.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("connect in process: %w", err)
	}
	return s.stall.on(conn), nil
}

// stalled reads the server's protocol frame by frame. One goroutine reads.
type stalled struct {
	net.Conn
	stall     *Stall
	in        *bufio.Reader
	out, held bytes.Buffer
}

// Read gives what may pass.
func (c *stalled) Read(b []byte) (int, error) {
	for c.out.Len() == 0 {
		frame, subject, err := c.frame()
		if err != nil {
			return 0, err
		}
		if c.stall.stopped.Load() && bytes.HasPrefix(subject, []byte(c.stall.Subject)) {
			c.held.Write(frame)
			continue
		}
		if !c.stall.stopped.Load() {
			_, _ = c.held.WriteTo(&c.out)
		}
		c.out.Write(frame)
	}
	return c.out.Read(b)
}

// frame reads one protocol frame, with its payload where it is a message.
func (c *stalled) frame() (frame, subject []byte, err error) {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil, nil, err
	}
	words := bytes.Fields(line)
	if len(words) < 4 || !bytes.Equal(words[0], []byte("MSG")) && !bytes.Equal(words[0], []byte("HMSG")) {
		return line, nil, nil
	}
	size, err := strconv.Atoi(string(words[len(words)-1]))
	if err != nil {
		return nil, nil, fmt.Errorf("read a frame: %w", err)
	}
	payload := make([]byte, size+2)
	if _, err := io.ReadFull(c.in, payload); err != nil {
		return nil, nil, err
	}
	return append(line, payload...), words[1], nil
}
