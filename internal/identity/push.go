package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Push hands the account of an identity to the NATS server, on a connection with the role
// [System]. The server then knows the credentials that were added, and ends those that
// were replaced or revoked.
func Push(ctx context.Context, a *Authority, conn *natsx.Conn, i Identity) error {
	token, err := os.ReadFile(filepath.Join(a.dir, "accounts", i.Account+".jwt"))
	if err != nil {
		return err
	}
	reply, err := conn.Request(ctx, "$SYS.REQ.CLAIMS.UPDATE", nil, token)
	if err != nil {
		return fmt.Errorf("hand %s to the NATS server: %w", i.Label(), err)
	}
	var answer struct {
		Error struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil || answer.Error.Description != "" {
		return fmt.Errorf("the NATS server does not take %s: %s", i.Label(), answer.Error.Description)
	}
	return nil
}
