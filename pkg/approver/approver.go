package approver

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// maxWait bounds the wait for a reply.
const maxWait = 10 * time.Second

// Approver lists, watches and answers approval requests. It is safe for concurrent use.
type Approver struct {
	conn *clientconn.Conn
}

// New creates an approver on a client's connection. There is nothing to close.
func New(client *hookrouter.Client) *Approver { return &Approver{clientconn.Of(client)} }

// request sends a request with a JSON body, nil for none, and decodes the reply into out.
func (a *Approver) request(ctx context.Context, subject string, body, out any) (*natsx.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	header := wire.Header{}
	wire.InjectTrace(ctx, header)
	return a.conn.RequestJSON(ctx, clientconn.Request{Subject: subject, Header: header}, body, out)
}
