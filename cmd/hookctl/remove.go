package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type hookRmCmd struct {
	ID string `arg:"" help:"Id of the hook."`
}

// removed is the JSON form of what `hook rm` did.
type removed struct {
	ID        string `json:"id"`
	Removed   bool   `json:"removed"`
	Instances int    `json:"instances"` // that were alive
}

// Run removes the hook.
func (c *hookRmCmd) Run(ctx context.Context, e *env) error {
	if err := events.CheckHookID(c.ID); err != nil {
		return err
	}
	b, err := e.connect()
	if err != nil {
		return err
	}
	defer b.Close()
	was, err := find(ctx, agent.Options{Conn: b.Conn(), Prefix: b.Prefix(), Patience: patience}, c.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err = b.Request(ctx, b.Of("unregister", c.ID), nil, []byte("{}"))
	if errors.Is(err, natsx.ErrNoResponders) {
		err = agent.ErrNoRouter
	}
	if err != nil {
		return fmt.Errorf("remove hook %s: %w", c.ID, err)
	}
	done := removed{ID: c.ID, Removed: was != nil}
	if was != nil {
		done.Instances = len(was.Instances)
	}
	switch {
	case e.out.json:
		e.out.document(done)
	case was == nil:
		e.out.print("there is no hook %s; `hookctl registry` lists them\n", c.ID)
	case done.Instances == 1:
		e.out.print("removed hook %s; its 1 instance registers it again unless it is stopped\n", c.ID)
	case done.Instances > 1:
		e.out.print("removed hook %s; its %d instances register it again unless they are stopped\n", c.ID, done.Instances)
	default:
		e.out.print("removed hook %s\n", c.ID)
	}
	return nil
}
