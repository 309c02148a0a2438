package natstest

import (
	"context"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
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

// Worker makes a worker, which is closed when the test ends.
func Worker(t testing.TB, client *hookrouter.Client, o worker.Options) *worker.Worker {
	t.Helper()
	w, err := worker.New(client, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w
}

// Connect opens a connection, which is closed when the test ends.
func Connect(t testing.TB, o natsx.Options) *natsx.Conn {
	t.Helper()
	conn, err := natsx.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
