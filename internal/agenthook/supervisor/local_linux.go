package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

const localSockets = true

// maxHead limits the header of an answer, in bytes.
const maxHead = 16 << 10

// socket is a connection to a router of the same user. It uses system calls directly, since package
// net starts threads, which takes longer than the answer.
type socket struct {
	fd     int
	unread []byte
}

// dial connects to a socket. It fails if a process of another user listens there.
func dial(name string) (*socket, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s := &socket{fd: fd}
	if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: name}); err == nil {
		var peer *syscall.Ucred
		if peer, err = syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil && int(peer.Uid) != os.Geteuid() {
			err = errors.New("another user listens there")
		}
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *socket) close() { _ = syscall.Close(s.fd) }

// write writes all of text. wait limits the time of each system call.
func (s *socket) write(text []byte, wait time.Duration) error {
	limit := syscall.NsecToTimeval(wait.Nanoseconds())
	if err := syscall.SetsockoptTimeval(s.fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return err
	}
	for len(text) > 0 {
		n, err := syscall.SendmsgN(s.fd, text, nil, nil, syscall.MSG_NOSIGNAL)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		text = text[max(n, 0):]
	}
	return nil
}

// fill reads more bytes. It returns os.ErrDeadlineExceeded if none arrive in time.
func (s *socket) fill(wait time.Duration) error {
	limit := syscall.NsecToTimeval(wait.Nanoseconds())
	if err := syscall.SetsockoptTimeval(s.fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return err
	}
	part := make([]byte, 16<<10)
	for end := time.Now().Add(wait); ; {
		n, err := syscall.Read(s.fd, part)
		switch {
		case errors.Is(err, syscall.EINTR) && time.Now().Before(end):
			continue
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
			return os.ErrDeadlineExceeded
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		s.unread = append(s.unread, part[:n]...)
		return nil
	}
}

// head reads the head of an answer.
func (s *socket) head(wait time.Duration) (status string, header map[string]string, err error) {
	for {
		if head, rest, found := bytes.Cut(s.unread, []byte("\r\n\r\n")); found {
			s.unread = rest
			return parseHead(string(head))
		}
		if len(s.unread) > maxHead {
			return "", nil, errElsewhere
		}
		if err := s.fill(wait); err != nil {
			return "", nil, err
		}
	}
}

func parseHead(text string) (status string, header map[string]string, err error) {
	lines := strings.Split(text, "\r\n")
	version, rest, _ := strings.Cut(lines[0], " ")
	if version != "HTTP/1.1" || len(rest) < 3 {
		return "", nil, errElsewhere
	}
	header = make(map[string]string, len(lines))
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		header[name] = strings.TrimSpace(value)
	}
	return rest[:3], header, nil
}

// body reads size bytes.
func (s *socket) body(size int, wait time.Duration) ([]byte, error) {
	for len(s.unread) < size {
		if err := s.fill(wait); err != nil {
			return nil, err
		}
	}
	return s.unread[:size], nil
}
