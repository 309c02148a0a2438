package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// bucketSettings watches the settings of the bucket. With other settings than the required ones the
// bucket may lose registrations, so this replica is not ready.
func bucketSettings(c *natsx.Conn, o Options) *natsx.Settings {
	return &natsx.Settings{
		Of: "registry", Prefix: c.Prefix(), Log: o.Log,
		Inspect: func(ctx context.Context) (wrong string, err error) {
			state, err := c.InspectBucket(ctx, Bucket(c.Bucket(), 0))
			if err != nil || len(state.Drift) == 0 {
				return "", err
			}
			return fmt.Sprintf("the bucket %s may lose registrations: %s. Run `hookctl audit bootstrap --prefix %s`",
				c.Bucket(), strings.Join(state.Drift, ", "), c.Prefix()), nil
		},
	}
}

// CheckSettings compares the bucket's settings with the required ones. Run repeats the check.
func (r *Registry) CheckSettings(ctx context.Context) error { return r.settings.Check(ctx) }
