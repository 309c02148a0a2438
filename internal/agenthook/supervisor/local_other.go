//go:build !linux

package supervisor

import (
	"errors"
	"time"
)

const localSockets = false

// socket is a connection to a router of the same user. Local sockets are supported only on Linux,
// where no other program can replace a socket and the peer's user is known.
type socket struct{}

func dial(string) (*socket, error) { return nil, errors.ErrUnsupported }

func (*socket) close()                            {}
func (*socket) write([]byte, time.Duration) error { return errors.ErrUnsupported }

func (*socket) head(time.Duration) (string, map[string]string, error) {
	return "", nil, errors.ErrUnsupported
}

func (*socket) body(int, time.Duration) ([]byte, error) { return nil, errors.ErrUnsupported }
