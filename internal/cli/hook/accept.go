package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/clientconn"
)

type acceptCmd struct{}

// acceptPatience is how long hookctl goes on while routers can't confirm.
const acceptPatience = 30 * time.Second

// accepted is the JSON form of what `registry accept` did.
type accepted struct {
	Accepted bool `json:"accepted"`
}

// Run accepts the loss.
func (c *acceptCmd) Run(ctx context.Context, e *cli.Env) error {
	client, err := e.Client(ctx)
	if err != nil {
		return err
	}
	conn := clientconn.Of(client)
	conn.Patience = acceptPatience
	var done accepted
	_, err = conn.RequestJSON(ctx, clientconn.Request{Subject: conn.Transport.Of("registry", "accept")}, nil, &done)
	switch {
	case err != nil:
		return fmt.Errorf("accept the registrations that are there: %w", err)
	case e.Out.Document(done):
	case done.Accepted:
		e.Out.Print("accepted: routers serve with the registrations that are there; `hookctl registry` lists them\n")
	default:
		e.Out.Print("no registrations are lost\n")
	}
	return nil
}
