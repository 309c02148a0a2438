package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

type removeCmd struct {
	ID string `arg:"" help:"Id of the hook."`
}

// removed is the JSON form of what `hook rm` did.
type removed struct {
	ID        string `json:"id"`
	Removed   bool   `json:"removed"`
	Instances int    `json:"instances"` // that were alive
}

// Run removes the hook.
func (c *removeCmd) Run(ctx context.Context, e *cli.Env) error {
	was, b, err := find(ctx, e, c.ID)
	if err != nil {
		return fmt.Errorf("remove hook %s: %w", c.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err = b.Request(ctx, b.Of("unregister", c.ID), nil, []byte("{}"))
	if errors.Is(err, natsx.ErrNoResponders) {
		err = hookrouter.ErrNoRouter
	}
	if err != nil {
		return fmt.Errorf("remove hook %s: %w", c.ID, err)
	}
	done := removed{ID: c.ID, Removed: true, Instances: len(was.Instances)}
	switch {
	case e.Out.Document(done):
	case done.Instances == 1:
		e.Out.Print("removed hook %s; its 1 instance registers it again unless it is stopped\n", c.ID)
	case done.Instances > 1:
		e.Out.Print("removed hook %s; its %d instances register it again unless they are stopped\n", c.ID, done.Instances)
	default:
		e.Out.Print("removed hook %s\n", c.ID)
	}
	return nil
}
