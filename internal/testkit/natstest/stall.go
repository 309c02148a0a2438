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

// Stall dials connections on which messages of some subjects can be held back, to simulate a
// stalled consumer. All other messages still arrive. Use [Stall.Option] for a client of a listening
// server, or [Stall.InProcess].
type Stall struct {
	// Subject is the prefix of the subjects to hold back.
	Subject string
	stopped atomic.Bool
}

// Option returns the option that makes a client use the stall.
func (s *Stall) Option() nats.Option { return nats.SetCustomDialer(s) }

// Stop holds back messages that arrive from now on.
func (s *Stall) Stop() { s.stopped.Store(true) }

// Go releases the held messages in order, before the next message that arrives.
func (s *Stall) Go() { s.stopped.Store(false) }

// Dial connects, for [nats.SetCustomDialer].
func (s *Stall) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address) //nolint:noctx // the interface has no context
	if err != nil {
		return nil, err
	}
	return s.on(conn), nil
}

// InProcess returns a provider whose in-process connections to a server use the stall, for example
// in a [Bubble].
func (s *Stall) InProcess(server nats.InProcessConnProvider) nats.InProcessConnProvider {
	return &stalledServer{server, s}
}

func (s *Stall) on(conn net.Conn) net.Conn {
	return &stalled{Conn: conn, stall: s, in: bufio.NewReaderSize(conn, 64<<10)}
}

// stalledServer is a server whose in-process connections use a stall.
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

// stalled reads the server's protocol frame by frame. Only one goroutine may read.
type stalled struct {
	net.Conn
	stall     *Stall
	in        *bufio.Reader
	out, held bytes.Buffer
}

// Read returns the bytes that are not held back.
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

// frame reads one protocol frame, including the payload of a message.
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
