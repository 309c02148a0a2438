package signer

import "context"

// Look has a signer look once; last is for one that ends.
func (s *Signer) Look(ctx context.Context, last bool) { s.look(ctx, last) }
