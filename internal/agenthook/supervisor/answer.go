package supervisor

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxAnswer limits an answer, in bytes. It is enough for the answer to the largest document with a
// reason.
const maxAnswer = 256 << 20

// Announce sends the longest time that the answer takes to the first process.
func Announce(to io.Writer, d time.Duration) error {
	_, err := io.WriteString(to, strconv.FormatInt(d.Milliseconds(), 10)+"\n")
	return err
}

// Answer sends the output for the agent and the exit code to the first process, which ignores an
// incomplete answer.
func Answer(to io.Writer, out []byte, code int) error {
	_, err := io.WriteString(to, strconv.Itoa(code)+" "+strconv.Itoa(len(out))+"\n"+string(out))
	return err
}

// receive reads what [Announce] and [Answer] wrote.
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

// line reads a line byte by byte, so that it reads nothing beyond it.
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
