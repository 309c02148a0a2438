package bucket_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// TestAFullBucketKeepsWhatItHas: a flood of sessions fills the bucket of an operator who bounds it.
// What is new fails; what others have stays.
func TestAFullBucketKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	store := open(t, s)
	if err := store.Update(t.Context(), "limits.other", add); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(natstest.Conn(t, s))
	if err != nil {
		t.Fatal(err)
	}
	config := stream(t, s).Config
	config.MaxBytes = 8 << 10
	if _, err := js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 200 {
		if err := store.Update(t.Context(), fmt.Sprint("limits.s", i), add); err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("a full bucket takes everything")
	}
	if value, err := store.Get(t.Context(), "limits.other"); err != nil || string(value) != "x" {
		t.Errorf("what another has is %q, %v", value, err)
	}
}
