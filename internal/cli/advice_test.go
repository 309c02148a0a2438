package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// An error about a missing permission names the credentials that were used, such as those of an
// agent whose variable is still set.
func TestAMissingPermissionNamesTheCredentials(t *testing.T) {
	for _, c := range []struct{ creds, role, want string }{
		{"", "", "ask whoever runs it for that permission"},
		{"coder.creds", "", "the credentials in coder.creds do not allow it: name others with --creds or NATS_CREDS"},
		{"admin.creds", keeper, "the credentials in admin.creds do not allow it: name a keeper's with --creds or NATS_CREDS"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		e := &Env{Connection: &Connection{Creds: c.creds}, Role: c.role, Cancel: cancel}
		e.asyncError(nil, nats.ErrPermissionViolation)
		if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("credentials %q, role %q: %v; want %s", c.creds, c.role, err, c.want)
		}
	}
}
