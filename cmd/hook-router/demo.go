package main

import (
	"context"
	"io"
)

type demo struct{}

func (demo) run(context.Context, io.Writer) error { return nil }
