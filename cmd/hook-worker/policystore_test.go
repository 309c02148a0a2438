package main

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// stored is what is stored to be enforced.
func (r *rollout) stored() []byte {
	r.t.Helper()
	m, err := r.NC.Request("hooks.policy.get", []byte(`{"name":"production"}`), 5*time.Second)
	if err != nil || len(m.Data) == 0 {
		r.t.Fatalf("%s, %v", m.Data, err)
	}
	return m.Data
}

// store puts a bundle in the place of what is stored, as somebody without the key can.
func (r *rollout) store(raw []byte) {
	r.t.Helper()
	now, err := r.NC.Request("hooks.policy.get", []byte(`{"name":"production"}`), 5*time.Second)
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := r.NC.RequestMsg(&nats.Msg{Subject: "hooks.policy.push", Header: nats.Header{"Hook-Revision": now.Header["Hook-Revision"]}, Data: raw}, 5*time.Second)
	if err != nil || m.Header.Get("Nats-Service-Error") != "" {
		r.t.Fatalf("%v, %v", m.Header, err)
	}
}

// A store that was lost and filled again counts its revisions from 1: a worker that knew the old
// one takes over what is pushed nevertheless.
func TestAStoreThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	one := r.push(deployPolicy("one"))
	first := r.stored()
	two := r.push(deployPolicy("two"))
	second := r.stored()
	js, err := r.NC.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	const bucket = "KV_hooks_policies"
	info, err := js.StreamInfo(bucket)
	if err != nil {
		t.Fatal(err)
	}
	lose := func() {
		if err := js.DeleteStream(bucket); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(raw []byte) {
		if _, err := js.AddStream(&info.Config); err != nil {
			t.Fatal(err)
		}
		r.store(raw) // at revision 1
	}
	lose()
	fill(first)
	stderr, _ := r.worker(t.TempDir())
	says(t, stderr, `"policy taken over","policy":"`+one)
	lose()
	says(t, stderr, `"msg":"policy not asked for`)
	fill(second)
	says(t, stderr, `"policy taken over","policy":"`+two)
}
