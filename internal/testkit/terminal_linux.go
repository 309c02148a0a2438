package testkit

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Screen is a terminal that shows what is written to File.
type Screen struct {
	File *os.File

	mu   sync.Mutex // guards text
	text strings.Builder
}

// Terminal opens a terminal with a width of columns. It is closed when the test ends.
func Terminal(t testing.TB, columns uint16) *Screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	s := &Screen{}
	if err == nil {
		s.File, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		part := make([]byte, 4096)
		for {
			n, err := master.Read(part) // fails when File is closed
			s.mu.Lock()
			s.text.Write(part[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = s.File.Close()
		wg.Wait()
		_ = master.Close()
	})
	return s
}

// String returns the text on the screen.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

// Wide returns the lines on the screen that are wider than columns.
func (s *Screen) Wide(columns int) (lines []string) {
	for line := range strings.Lines(s.String()) {
		if line = strings.TrimRight(line, "\n"); len([]rune(line)) > columns {
			lines = append(lines, line)
		}
	}
	return lines
}
