package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Push sends the account of an identity to the NATS server, on a connection with the role [System]. The
// server then accepts new credentials, and rejects those that were replaced or revoked.
//
// For an auditor it sends the routers' account too: the account of the mirrors imports from it.
func Push(ctx context.Context, a *Authority, conn *natsx.Conn, i Identity) error {
	if i.Role.audits() {
		if err := push(ctx, a, conn, i.Label(), a.state.Accounts[routersAccount]); err != nil {
			return err
		}
	}
	return push(ctx, a, conn, i.Label(), i.Account)
}

func push(ctx context.Context, a *Authority, conn *natsx.Conn, label, account string) error {
	token, err := os.ReadFile(filepath.Join(a.dir, "accounts", account+".jwt"))
	if err != nil {
		return err
	}
	reply, err := conn.Request(ctx, "$SYS.REQ.CLAIMS.UPDATE", nil, token)
	if err != nil {
		return fmt.Errorf("send %s to the NATS server: %w", label, err)
	}
	var answer struct {
		Error struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil || answer.Error.Description != "" {
		return fmt.Errorf("the NATS server rejects %s: %s", label, answer.Error.Description)
	}
	return nil
}
