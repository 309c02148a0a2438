package cli

import (
	"context"
	"time"
)

// asideTime bounds the reads for an addition to a command's output.
const asideTime = 2 * time.Second

// Aside returns a copy of the environment that connects as a role, to read an addition to the
// output that not every identity may read. Its errors end only the returned context, and are not
// reported. done closes the connection.
func (e *Env) Aside(ctx context.Context, role string) (aside context.Context, other *Env, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, stop := context.WithTimeout(ctx, asideTime)
	other = e.As(role)
	other.Cancel, other.Status = cancel, func(string) {}
	return ctx, other, func() {
		other.Close()
		stop()
		cancel(nil)
	}
}

// Identified reports whether flags or variables set one identity, which all connections use.
func (c *Connection) Identified() bool {
	return c.Creds != "" || c.User != "" || c.Token != "" || c.NKey != ""
}
