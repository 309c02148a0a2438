package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Discover requests information from NATS services, for example on the subject $SRV.INFO, and
// passes each answer to take. It waits up to first for the first answer, unless NATS reports that
// no such service exists, and up to further for each further answer.
func Discover(ctx context.Context, b *natsx.Conn, subject string, first, further time.Duration, take func(micro.Info)) error {
	answers := make(chan *nats.Msg, 1024)
	inbox := b.Conn().NewInbox()
	sub, err := b.Conn().ChanSubscribe(inbox, answers)
	if err == nil {
		defer sub.Unsubscribe() //nolint:errcheck // the connection is closed soon
		err = b.Conn().PublishRequest(subject, inbox, nil)
	}
	if err != nil {
		return Disconnected(fmt.Errorf("ask %s: %w", subject, err))
	}
	for wait := first; ; wait = further {
		select {
		case msg := <-answers:
			if len(msg.Data) == 0 && msg.Header.Get("Status") == "503" {
				return nil
			}
			var info micro.Info
			if json.Unmarshal(msg.Data, &info) == nil {
				take(info)
			}
		case <-time.After(wait):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
