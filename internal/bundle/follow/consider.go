package follow

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/shorten"
)

// consider applies a bundle, or refuses it.
func (f *Follower) consider(ctx context.Context, use bundle.Use, raw []byte) (taken bool) {
	b, err := f.open(use, raw)
	if b == nil && err == nil { // it is already running, or outdated
		f.withdrawn(ctx, use)
		return true
	}
	if err == nil {
		err = f.try(ctx, b)
	}
	if err == nil {
		err = f.offer(ctx, b)
	}
	if ctx.Err() != nil {
		return false
	}
	if err == nil {
		f.mu.Lock()
		delete(f.refused, use)
		f.mu.Unlock()
		f.Log.Info("policy taken over", "policy", b.Version(), "use", string(use), "restores", b.Restores, "commit", b.Commit)
		return true
	}
	r := Refusal{Why: clip(err.Error())}
	if b != nil {
		r.Version = b.Version()
	}
	f.refuse(ctx, use, r)
	return false
}

// refuse records a refusal, and reports it if it is new.
func (f *Follower) refuse(ctx context.Context, use bundle.Use, r Refusal) {
	f.mu.Lock()
	known := f.refused[use] == r
	f.refused[use] = r
	f.mu.Unlock()
	if known {
		return
	}
	f.Log.Error("policy refused; keeping the previous hooks", "policy", cmp.Or(r.Version, f.Name), "use", string(use), "error", r.Why)
	if f.Refused != nil {
		f.Refused(ctx, r)
	}
}

// withdrawn records that the refused version is no longer stored.
func (f *Follower) withdrawn(ctx context.Context, use bundle.Use) {
	f.mu.Lock()
	_, refused := f.refused[use]
	delete(f.refused, use)
	last := refused && len(f.refused) == 0
	f.mu.Unlock()
	if last && f.Refused != nil {
		f.Refused(ctx, Refusal{})
	}
}

// maxWhy limits the reason of a refusal, in bytes.
const maxWhy = 400

// clip returns the first line of a text, cut to maxWhy.
func clip(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return shorten.Bytes(line, maxWhy, " …")
}

// verify opens a bundle with the configured keys.
func (f *Follower) verify(raw []byte) (*bundle.Bundle, error) {
	keys, err := f.Keys()
	if err != nil {
		return nil, err
	}
	return bundle.Open(raw, keys...)
}

// open verifies a bundle, and checks that it is newer than the running one. It returns nil without
// an error for the running bundle, and for a shadow bundle that is not newer than the enforced one.
func (f *Follower) open(use bundle.Use, raw []byte) (*bundle.Bundle, error) {
	b, err := f.verify(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case b.Name != f.Name:
		return b, fmt.Errorf("it is of another policy: %s", b.Name)
	case b.Use != use:
		return b, fmt.Errorf("it was signed to %s, and is stored where it would %s", b.Use, use)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now, newest, enforced := f.running[use], f.newest[use], f.newest[bundle.Enforce]
	switch {
	case use == bundle.Shadow && enforced != nil && b.Serial <= enforced.Serial:
		return nil, nil
	case newest == nil || b.Serial > newest.Serial:
		return b, nil
	case b.Serial < newest.Serial:
		return b, fmt.Errorf("it is older than %s, which was taken over: `hookctl policy rollback` signs a rollback", newest.Short())
	case b.Digest != newest.Digest:
		return b, fmt.Errorf("it has the serial of what was taken over, and other files: somebody signed two bundles with the serial %d", b.Serial)
	case now == nil || now.Serial != b.Serial:
		return b, nil // it failed to run before
	}
	return nil, nil
}
