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
	IDs []string `arg:"" name:"id" help:"Id of the hook; several are removed one after the other."`
}

// removed is the JSON form of the result of `hook rm`.
type removed struct {
	ID        string `json:"id"`
	Removed   bool   `json:"removed"`
	Instances int    `json:"instances"` // that were alive
}

// Run removes the hooks, and stops at the first that can't be removed.
func (c *removeCmd) Run(ctx context.Context, e *cli.Env) error {
	for _, id := range c.IDs {
		if err := remove(ctx, e, id); err != nil {
			return fmt.Errorf("remove hook %s: %w", id, err)
		}
	}
	return nil
}

func remove(ctx context.Context, e *cli.Env, id string) error {
	was, b, err := find(ctx, e, id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err = b.Request(ctx, b.Of("unregister", id), nil, []byte("{}"))
	if errors.Is(err, natsx.ErrNoResponders) {
		err = hookrouter.ErrNoRouter
	}
	if err != nil {
		return err
	}
	done := removed{ID: id, Removed: true, Instances: len(was.Instances)}
	switch {
	case e.Out.Document(done):
	case done.Instances == 1:
		e.Out.Print("removed hook %s; its 1 instance registers it again unless it is stopped\n", id)
	case done.Instances > 1:
		e.Out.Print("removed hook %s; its %d instances register it again unless they are stopped\n", id, done.Instances)
	default:
		e.Out.Print("removed hook %s\n", id)
	}
	return nil
}
