package supervisor

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer, in bytes: that to the largest document, and its reason.
const maxAnswer = 256 << 20

// Announce tells the first process how long the answer takes at the most.
func Announce(to io.Writer, d time.Duration) error {
	_, err := io.WriteString(to, strconv.FormatInt(d.Milliseconds(), 10)+"\n")
	return err
}

// Answer gives the first process what to write to the agent, and the exit code. It is
// complete, or it is none.
func Answer(to io.Writer, out []byte, code int) error {
	_, err := io.WriteString(to, strconv.Itoa(code)+" "+strconv.Itoa(len(out))+"\n"+string(out))
	return err
}

// receive reads both.
func receive(from io.Reader, announced func(time.Duration)) (out []byte, code int, err error) {
	ms, err := line(from)
	if err != nil {
		return nil, 0, err
	}
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return nil, 0, errNoAnswer
	}
	announced(time.Duration(n) * time.Millisecond)
	head, err := line(from)
	if err != nil {
		return nil, 0, err
	}
	first, second, _ := strings.Cut(head, " ")
	code, err1 := strconv.Atoi(first)
	size, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || size < 0 || size > maxAnswer {
		return nil, 0, errNoAnswer
	}
	out = make([]byte, size)
	if _, err := io.ReadFull(from, out); err != nil {
		return nil, 0, errNoAnswer
	}
	return out, code, nil
}

var errNoAnswer = errors.New("its second process gave no answer")

// line reads a line byte by byte: what follows stays where it is.
func line(from io.Reader) (string, error) {
	var text []byte
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(from, b); err != nil {
			return "", errNoAnswer
		}
		if b[0] == '\n' {
			return string(text), nil
		}
		text = append(text, b[0])
	}
}
