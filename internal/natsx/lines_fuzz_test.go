package natsx

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever a subject and a payload contain, a message has one subject, and all else arrives unchanged.
func FuzzLines(f *testing.F) {
	f.Add("a.b\r1", "MSG a 1 5\r\nhello\r\n")
	f.Add("\r\r", "")
	f.Add("a.b.c", "\rx")
	f.Add("a 12 0\r9", "\r")
	f.Fuzz(func(t *testing.T, subject, payload string) {
		if strings.Contains(subject, "\n") {
			t.Skip("no server takes it for a subject")
		}
		sent, want := new(bytes.Buffer), new(bytes.Buffer)
		for range 50 { // more than the buffer below holds
			fmt.Fprintf(sent, "MSG %s 1 %d\r\n%s\r\nPING\r\n", subject, len(payload), payload)
			fmt.Fprintf(want, "MSG %s 1 %d\r\n%s\r\nPING\r\n", strings.ReplaceAll(subject, "\r", "?"), len(payload), payload)
		}
		for _, size := range []int{32, 61, 100} {
			for name, r := range map[string]io.Reader{"at once": bytes.NewReader(sent.Bytes()), "byte by byte": iotest.OneByteReader(bytes.NewReader(sent.Bytes()))} {
				got, err := io.ReadAll(&lines{in: bufio.NewReaderSize(r, size+len(subject))})
				if err != nil || !bytes.Equal(got, want.Bytes()) {
					t.Errorf("%s, %d: %q, %v; want %q", name, size, got, err, want)
				}
			}
		}
	})
}
