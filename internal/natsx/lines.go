package natsx

import (
	"io"
	"net"

	"github.com/nats-io/nats.go"
)

// The NATS server passes on a subject or a reply subject that contains a carriage return, which the
// client library takes for a blank. It then closes the connection, or delivers the message to the
// subscription that the sender chose. Here the carriage return becomes part of the subject.

// oneLine connects to a server so that no sender can add words to the lines of the protocol.
type oneLine struct {
	dial func(network, address string) (net.Conn, error)
	in   InProcess
}

// Dial connects, for [nats.SetCustomDialer].
func (o oneLine) Dial(network, address string) (net.Conn, error) {
	return newLines(o.dial(network, address))
}

// InProcessConn connects, for [nats.InProcessServer].
func (o oneLine) InProcessConn() (net.Conn, error) { return newLines(o.in.InProcessConn()) }

// cr replaces a carriage return within a line. No name of an event, a hook or a session contains it.
const cr = '?'

// lines is a connection to a NATS server.
type lines struct {
	net.Conn
	first byte // of the line; 0 at its beginning
	size  int  // the number that the line ends with
	skip  int  // bytes of a payload left to read
	held  bool // a carriage return was read that may end the line
	other bool // the server speaks another protocol: TLS or WebSocket
}

func newLines(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return &lines{Conn: c}, nil
}

// Read reads what the server sends. A carriage return at the end is held back until the next byte
// is known.
func (l *lines) Read(p []byte) (n int, err error) {
	if l.other {
		return l.Conn.Read(p)
	}
	if len(p) < 2 {
		return 0, io.ErrShortBuffer
	}
	for n == 0 && err == nil {
		begin := 0
		if l.held {
			p[0], begin, l.held = '\r', 1, false
		}
		n, err = l.Conn.Read(p[begin:])
		n = l.check(p[:begin+n])
	}
	return n, err
}

// check replaces carriage returns in p, and returns the length of what is complete.
func (l *lines) check(p []byte) int {
	for i := 0; i < len(p) && !l.other; i++ {
		if l.skip > 0 {
			n := min(l.skip, len(p)-i)
			l.skip, i = l.skip-n, i+n-1
			continue
		}
		switch b := p[i]; {
		case b == '\n':
			if l.first == 'M' || l.first == 'H' {
				l.skip = l.size + len("\r\n")
			}
			l.first, l.size = 0, 0
		case b == '\r' && i == len(p)-1:
			l.held = true
			return i
		case b == '\r' && p[i+1] != '\n':
			p[i], l.size = cr, 0
		case b == '\r':
		default:
			l.next(b)
		}
	}
	return len(p)
}

// next notes a byte of a line.
func (l *lines) next(b byte) {
	if l.first == 0 {
		l.first, l.other = b, b < ' ' || b > '~'
	}
	if b < '0' || b > '9' {
		l.size = 0
		return
	}
	l.size = min(l.size*10+int(b-'0'), 1<<40)
}

var _ nats.CustomDialer = oneLine{}
