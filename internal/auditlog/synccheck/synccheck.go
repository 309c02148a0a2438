// Package synccheck checks whether a NATS server keeps acknowledged writes through a power failure.
// It does only if it syncs each write to disk (sync_interval: always). Clients can't see that, but
// the server's monitoring reports it.
package synccheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrLazy means that a server acknowledges writes before they are on disk.
var ErrLazy = errors.New("it does not sync each write: set `jetstream { sync_interval: always }`")

// errNoServers means that no address is given.
var errNoServers = errors.New("no monitoring address is given")

// maxAnswer is the maximum size of a server's response, in bytes.
const maxAnswer = 1 << 20

// Prove asks each server at its monitoring address, such as http://nats-0:8222. It returns nil if
// all sync each write, and [ErrLazy] if one does not. After another error the result is unknown.
func Prove(ctx context.Context, servers []string) error {
	if len(servers) == 0 {
		return errNoServers
	}
	for _, server := range servers {
		if err := prove(ctx, server); err != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
	}
	return nil
}

func prove(ctx context.Context, server string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/jsz?config=true", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Config *struct {
			SyncAlways bool `json:"sync_always"`
		} `json:"config"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, &answer); resp.StatusCode != http.StatusOK || err != nil || answer.Config == nil {
		return fmt.Errorf("/jsz answered %d without a configuration of JetStream", resp.StatusCode)
	}
	if !answer.Config.SyncAlways {
		return ErrLazy
	}
	return nil
}
