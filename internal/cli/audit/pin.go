package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/cli/keys"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// pinFile is what is remembered of a verification: the head that was seen, and whose
// signatures held.
type pinFile struct {
	audit.Pin
	Head      tlog.Hash `json:"head"`                  // the digest of the last checkpoint
	Previous  tlog.Hash `json:"previous"`              // what the first names as its predecessor
	Verified  time.Time `json:"verified"`              // when
	Keys      []string  `json:"keys"`                  // of routers
	Witnesses []string  `json:"witnesses,omitempty"`   // their keys
	OnTrust   bool      `json:"on_trust,omitempty"`    // the keys were taken on first use
	From      string    `json:"verified_in,omitempty"` // where it stood: a file or a server

	path string
}

// readPin reads a pin; nil where there is no such file.
func readPin(path string) (*pinFile, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	p := &pinFile{path: path}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err == nil && (p.Origin == "" || p.Size < 1) {
		err = errors.New("it is no pin")
	}
	if err != nil {
		return nil, fmt.Errorf("read the pin %s: %w: it holds what was verified before; only who knows why it is broken should remove it, or use --no-pin", path, err)
	}
	return p, nil
}

// addKeys adds keys that the pin has.
func (p *pinFile) addKeys(list []keys.Key, texts []string) ([]keys.Key, error) {
	for _, text := range texts {
		k, err := keys.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read the pin %s: a key in it: %w", p.path, err)
		}
		list = keys.Add(list, k)
	}
	return list, nil
}

// write writes the pin whole or not at all.
func (p *pinFile) write() error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(p.path, append(text, '\n'), 0o600)
}

// pinPath is where the pin of a log is kept.
func pinPath(getenv func(string) string, origin string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as its specification says
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("keep a pin: neither HOME nor XDG_STATE_HOME is set; --pin FILE says where, --no-pin keeps none")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "hookctl", "audit", strings.ReplaceAll(origin, "/", "__")+".json"), nil
}

// keepPins remembers the heads that were verified.
func (v *verification) keepPins() error {
	for _, p := range v.parts {
		if p.path == "" || p.report.Pin == nil {
			continue
		}
		pin := &pinFile{
			Pin: *p.report.Pin, Head: p.report.Head.Digest(), Previous: p.previous, Verified: time.Now().UTC().Truncate(time.Second),
			Keys: keys.Texts(v.trust.routers), Witnesses: keys.Texts(v.trust.witnesses), From: v.from, path: p.path,
			OnTrust: v.onTrust || p.pin != nil && p.pin.OnTrust && len(v.cmd.Key) == 0,
		}
		if v.from == "" {
			pin.From = p.what
		}
		if err := pin.write(); err != nil {
			return fmt.Errorf("keep the pin of %s: %w (--no-pin keeps none)", p.header.Origin, err)
		}
	}
	return nil
}
