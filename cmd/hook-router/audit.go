package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/synccheck"
)

// auditKey returns the key that signs the audit log; nil if the log is off.
func (s serve) auditKey() (*signer.Key, error) {
	if s.Audit == "off" {
		return nil, nil
	}
	key, err := signer.LoadKey(cmp.Or(s.AuditKey, filepath.Join(s.StoreDir, "audit.key")))
	switch _, fromFile := errors.AsType[*fs.PathError](err); {
	case !fromFile:
		return key, err
	case s.AuditKey != "":
		return nil, fmt.Errorf("%w: name another place with --audit-key, or make the key there with `hookctl audit key new`", err)
	}
	return nil, fmt.Errorf("%w: choose a directory that this user can write with --store-dir", err)
}

// sayDurability logs whether writes that the NATS servers acknowledge survive a power loss.
func (s serve) sayDurability(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var servers []string
	if s.NATSMonitor != "" {
		servers = strings.Split(s.NATSMonitor, ",")
	}
	err := synccheck.Prove(ctx, servers)
	if err == nil {
		log.Info("durability is proven: every NATS server syncs each write to disk before it acknowledges", "servers", len(servers))
		return
	}
	if errors.Is(err, synccheck.ErrLazy) {
		log.Error("NATS acknowledges writes before they are on disk; a power cut loses acknowledged records", "error", err)
		return
	}
	log.Warn("durability against power loss could not be proven: answers wait for NATS to acknowledge their records, and NATS may do so "+
		"before the disk has them. Set `jetstream { sync_interval: always }` on every server, and name their monitoring addresses with --nats-monitor",
		"reason", err)
}
