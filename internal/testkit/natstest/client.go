package natstest

import (
	"testing"

	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Client connects a client, which is closed when the test ends.
func Client(t testing.TB, o hookrouter.Options) *hookrouter.Client {
	t.Helper()
	client, err := hookrouter.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}
