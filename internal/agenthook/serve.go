package agenthook

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
)

// Serve answers the document on stdin as the second process: see [supervisor.Run].
func (h *Hook) Serve(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	document, err := h.read(ctx, stdin)
	in, _ := readInput(h.Dialect, h.Native, document)
	if err := supervisor.Announce(stdout, h.timeout(in.event)); err != nil {
		return err
	}
	out := h.answer(ctx, document, err)
	if out.Stderr != "" {
		fmt.Fprintln(h.Notes, out.Stderr)
	}
	return supervisor.Answer(stdout, out.Stdout, out.Code)
}

// Run answers the document on stdin in this process.
func (h *Hook) Run(ctx context.Context, stdin io.Reader) Output {
	document, err := h.read(ctx, stdin)
	return h.answer(ctx, document, err)
}

func (h *Hook) answer(ctx context.Context, document []byte, err error) Output {
	if err == nil {
		return h.Answer(ctx, document)
	}
	if !errors.Is(err, errIncomplete) { // no time is left to report it
		h.unread(ctx, document, err)
	}
	return h.Refuse(document, err)
}

// read reads the document within the timeout.
func (h *Hook) read(ctx context.Context, stdin io.Reader) ([]byte, error) {
	event, _ := h.Dialect.Event(h.Native)
	ctx, cancel := context.WithTimeout(ctx, h.timeout(event))
	defer cancel()
	type result struct {
		document []byte
		err      error
	}
	done := make(chan result, 1)
	go func() {
		document, err := readAll(stdin)
		done <- result{document, err}
	}()
	select {
	case r := <-done:
		return r.document, r.err
	case <-ctx.Done():
		return nil, errIncomplete
	}
}

var errIncomplete = errors.New("the agent did not complete its message in time")
