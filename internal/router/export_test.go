package router

import "context"

// CheckBuckets looks for missing buckets now.
func (r *Router) CheckBuckets(ctx context.Context) error { return r.buckets.Check(ctx) }
