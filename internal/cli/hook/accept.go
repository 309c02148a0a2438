package hook

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/cli"
)

type acceptCmd struct{}

// accepted is the JSON form of the result of `registry accept`.
type accepted struct {
	Accepted bool `json:"accepted"`
}

// Run accepts the loss of registrations.
func (c *acceptCmd) Run(ctx context.Context, e *cli.Env) error {
	var done accepted
	err := e.Order(ctx, nil, &done, "registry", "accept")
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
