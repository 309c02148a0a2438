package natsx

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strconv"

	"github.com/nats-io/nats.go"
)

// The NATS server passes on a subject or a reply subject that contains a carriage return, which the
// client library takes for a space. It then closes the connection, or delivers the message to the
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

// maxLine is more than the longest line of a server.
const maxLine = 64 << 10

// lines is a connection to a NATS server. One goroutine may read from it.
type lines struct {
	net.Conn
	in    *bufio.Reader
	line  []byte // what is left to read of a line
	skip  int    // bytes of a payload left to read
	other bool   // the server speaks another protocol: TLS or WebSocket
}

func newLines(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return &lines{Conn: c, in: bufio.NewReaderSize(c, maxLine)}, nil
}

// Read reads what the server sends. It blocks only until there is a line, or a part of a payload.
func (l *lines) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || l.ready()) {
		var m int
		switch {
		case l.other:
			m, err = l.in.Read(p[n:])
		case len(l.line) > 0:
			m = copy(p[n:], l.line)
			l.line = l.line[m:]
		case l.skip > 0:
			m, err = l.in.Read(p[n:min(len(p), n+l.skip)])
			l.skip -= m
		default:
			err = l.next()
		}
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// ready reports whether more can be read without blocking.
func (l *lines) ready() bool {
	if len(l.line) > 0 {
		return true
	}
	buffered, _ := l.in.Peek(l.in.Buffered())
	return len(buffered) > 0 && (l.other || l.skip > 0 || bytes.IndexByte(buffered, '\n') >= 0)
}

// next reads a line, and the size of the payload behind it.
func (l *lines) next() (err error) {
	first, err := l.in.Peek(1)
	if err != nil {
		return err
	}
	if l.other = first[0] < ' ' || first[0] > '~'; l.other {
		return nil
	}
	if l.line, err = l.in.ReadSlice('\n'); err != nil {
		return err
	}
	text := bytes.TrimSuffix(l.line[:len(l.line)-1], []byte("\r"))
	for i := bytes.IndexByte(text, '\r'); i >= 0; i = bytes.IndexByte(text, '\r') {
		text[i] = cr
	}
	if bytes.HasPrefix(text, []byte("MSG ")) || bytes.HasPrefix(text, []byte("HMSG ")) {
		size, err := strconv.Atoi(string(text[bytes.LastIndexByte(text, ' ')+1:]))
		if err != nil || size < 0 {
			return fmt.Errorf("unreadable line from the NATS server: %q", text)
		}
		l.skip = size + len("\r\n")
	}
	return nil
}

var _ nats.CustomDialer = oneLine{}
