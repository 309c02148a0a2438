package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Push sends the accounts that a changed to the NATS server, on a connection with the role [System]. The
// server then accepts new credentials, and rejects those that were replaced or revoked.
func Push(ctx context.Context, a *Authority, conn *natsx.Conn) error {
	return a.push(ctx, conn, func(account string) bool { return a.changed[account] })
}

// PushAll sends all accounts to the NATS server, and returns their number.
func PushAll(ctx context.Context, a *Authority, conn *natsx.Conn) (n int, err error) {
	return len(a.accounts()), a.push(ctx, conn, func(string) bool { return true })
}

// push sends the accounts of agents before that of the routers, which imports from them.
func (a *Authority) push(ctx context.Context, conn *natsx.Conn, wanted func(account string) bool) error {
	accounts := a.accounts()
	names := slices.SortedFunc(maps.Keys(accounts), func(x, y string) int {
		return cmp.Or(rank(x)-rank(y), strings.Compare(x, y))
	})
	for _, name := range names {
		if !wanted(accounts[name]) {
			continue
		}
		if err := a.send(ctx, conn, name, accounts[name]); err != nil {
			return err
		}
	}
	return nil
}

func rank(account string) int {
	switch {
	case strings.HasPrefix(account, string(Agent)+"-"):
		return 0
	case account == routersAccount:
		return 1
	}
	return 2
}

func (a *Authority) send(ctx context.Context, conn *natsx.Conn, name, account string) error {
	token, err := os.ReadFile(filepath.Join(a.dir, "accounts", account+".jwt"))
	if err != nil {
		return err
	}
	reply, err := conn.Request(ctx, "$SYS.REQ.CLAIMS.UPDATE", nil, token)
	if err != nil {
		return fmt.Errorf("send account %s to the NATS server: %w", name, err)
	}
	var answer struct {
		Error struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil || answer.Error.Description != "" {
		return fmt.Errorf("the NATS server rejects account %s: %s", name, answer.Error.Description)
	}
	return nil
}
