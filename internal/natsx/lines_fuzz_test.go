package natsx

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
)

// from is a connection from which tests read only.
type from struct {
	net.Conn
	io.Reader
}

func (f from) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// Whatever a subject and a payload contain, a message has one subject, and all else arrives unchanged.
func FuzzLines(f *testing.F) {
	f.Add("a.b\r1", "MSG a 1 5\r\nhello\r\n")
	f.Add("\r\r", "")
	f.Add("a 12 0\r9", "\r")
	f.Fuzz(func(t *testing.T, subject, payload string) {
		if strings.Contains(subject, "\n") {
			t.Skip("no server takes it for a subject")
		}
		sent, want := new(bytes.Buffer), new(bytes.Buffer)
		for range 1 + maxLine/(16+len(subject)+len(payload)) { // more than the buffer holds
			fmt.Fprintf(sent, "MSG %s 1 %d\r\n%s\r\nPING\r\n", subject, len(payload), payload)
			fmt.Fprintf(want, "MSG %s 1 %d\r\n%s\r\nPING\r\n", strings.ReplaceAll(subject, "\r", "?"), len(payload), payload)
		}
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(sent.Bytes()), "byte by byte": iotest.OneByteReader(bytes.NewReader(sent.Bytes()))} {
			c, _ := newLines(from{Reader: r}, nil)
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
	})
}
