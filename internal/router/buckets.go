package router

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/session"
)

// requiredBuckets checks that the buckets without which no event can be answered exist. The replica
// is not ready while one is missing. A running router does not create it again, since the contents
// of the old one are lost: an operator has to.
func requiredBuckets(c *natsx.Conn, o Options) *natsx.Settings {
	return &natsx.Settings{
		Of: "buckets", Prefix: c.Prefix(), Log: o.Log,
		Inspect: func(ctx context.Context) (wrong string, err error) {
			for _, one := range []natsx.BucketOptions{registry.Bucket(c.Bucket(), 0), session.Bucket(c.Prefix(), 0), approvals.Bucket(c.Prefix(), 0)} {
				_, err := c.InspectBucket(ctx, one)
				if errors.Is(err, natsx.ErrNoStream) {
					return fmt.Sprintf("the bucket %s is missing. Run `hookctl audit bootstrap --prefix %s`", one.Name, c.Prefix()), nil
				}
				if err != nil {
					return "", err
				}
			}
			return "", nil
		},
	}
}
