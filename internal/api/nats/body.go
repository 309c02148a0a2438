package nats

import (
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
)

// readBody decodes the body of a small request: see [agentapi.ReadBody].
func readBody(req *service.Request, into any) error {
	return agentapi.ReadBody(req.Header, req.Data, into)
}

func replyJSON(req *service.Request, v any) error {
	body, err := jsonv2.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	return req.Reply(nil, body)
}
