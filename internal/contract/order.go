package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// order checks that the hook's timeout is shorter than the timeout of its chain. Otherwise the
// chain ends first, and on_failure has no effect. The check passes if the router does not report
// the timeout of a chain.
func (v *validation) order(ctx context.Context, event string) error {
	if v.hook.WithDefaults().Mode != chain.Enforce {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	header, data := wire.Header{}, []byte("{}")
	v.event(event, data).SetHeader(header)
	msg, err := v.bus.Request(ctx, v.bus.Event("explain", event), header, data)
	if err != nil {
		return fmt.Errorf("ask the router how long a chain may take: %w", err)
	}
	var answer struct {
		ChainTimeoutMS int64 `json:"chain_timeout_ms"`
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		return fmt.Errorf("ask the router how long a chain may take: read the answer: %w", err)
	}
	whole := time.Duration(answer.ChainTimeoutMS) * time.Millisecond
	if own := v.hook.Timeout(); whole > 0 && own >= whole {
		v.note(Check{Name: "its time-out is shorter than that of its chain", Detail: fmt.Sprintf("it may take %s, and the chain ends after %s: its on_failure is never reached, the event is refused with 504", own, whole)})
	}
	return nil
}
