package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// Whoever lacks a permission is told which credentials were used, such as those of an agent whose
// variable is still set.
func TestAMissingPermissionNamesTheCredentials(t *testing.T) {
	for creds, want := range map[string]string{
		"":            "ask whoever runs it for that permission",
		"coder.creds": "the credentials in coder.creds do not allow it: name others with --creds or NATS_CREDS",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		e := &Env{Connection: &Connection{Creds: creds}, Cancel: cancel}
		e.asyncError(nil, nats.ErrPermissionViolation)
		if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("credentials %q: %v; want %s", creds, err, want)
		}
	}
}
