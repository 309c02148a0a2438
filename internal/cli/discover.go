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

// Discover asks NATS services for their information, such as with the subject $SRV.INFO, and hands
// each answer to take. It waits this long for the first answer, unless NATS knows that there is no
// such service, and for each further one.
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
