package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/internal/xdg"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// pinFile records a verification: the head that was seen, and the keys whose signatures were valid.
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

// readPin reads a pin. It returns nil if the file does not exist.
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
		err = errors.New("it is not a pin")
	}
	if err != nil {
		return nil, fmt.Errorf("read the pin %s: %w: it holds what was verified before; only who knows why it is broken should remove it, or use --no-pin", path, err)
	}
	return p, nil
}

// addKeys adds the keys of the pin to a list.
func (p *pinFile) addKeys(list []verifierkeys.Key, texts []string) ([]verifierkeys.Key, error) {
	for _, text := range texts {
		k, err := verifierkeys.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read the pin %s: a key in it: %w", p.path, err)
		}
		list = verifierkeys.Add(list, k)
	}
	return list, nil
}

// write writes the pin atomically.
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

// pinDir returns the directory of the pins.
func pinDir(getenv func(string) string) (string, error) {
	state := xdg.StateHome(getenv)
	if state == "" {
		return "", errNoState
	}
	return filepath.Join(state, "hookctl", "audit"), nil
}

// pinBase returns the beginning of the name of an origin's pin files.
func pinBase(origin string) string { return strings.ReplaceAll(origin, "/", "__") }

// keyMark separates the origin from the key in a file name, if several installations have logs of
// the same origin with different keys.
const keyMark = "@"

// readPins reads the pins of all logs of an origin, whatever their keys.
func readPins(getenv func(string) string, origin string) ([]*pinFile, error) {
	dir, err := pinDir(getenv)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(globEscape(dir), pinBase(origin)+keyMark+"*.json"))
	if err != nil {
		return nil, fmt.Errorf("look for pins: %w", err)
	}
	var pins []*pinFile
	for _, path := range append([]string{filepath.Join(dir, pinBase(origin)+".json")}, paths...) {
		pin, err := readPin(path)
		if err != nil {
			return nil, err
		}
		if pin != nil {
			pins = append(pins, pin)
		}
	}
	return pins, nil
}

// eachPin calls take for the pin of each segment of a prefix's logs, whatever their keys, with the
// segment's number and the pin's file.
func eachPin(getenv func(string) string, prefix string, take func(number int, path string)) error {
	origin := audit.Origin(prefix, segmentName(prefix, 1))
	dir, err := pinDir(getenv)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for pins: %w", err)
	}
	for _, entry := range entries {
		name, isPin := strings.CutSuffix(entry.Name(), ".json")
		name, _, _ = strings.Cut(name, keyMark)
		after, named := strings.CutPrefix(name, pinBase(origin))
		if n := numberOf(audit.Header{Origin: origin + after, Prefix: prefix}); isPin && named && n > 0 {
			take(n, filepath.Join(dir, entry.Name()))
		}
	}
	return nil
}

// globEscape escapes a path for filepath.Glob.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// newPinPath returns the path of a new pin of a log. The file is named after the origin, and after
// a key if there are pins of other logs of that origin.
func newPinPath(getenv func(string) string, origin string, others bool, identity []verifierkeys.Key) (string, error) {
	dir, err := pinDir(getenv)
	if err != nil {
		return "", err
	}
	name := pinBase(origin)
	if others && len(identity) > 0 {
		name += keyMark + identity[0].Fingerprint()
	}
	return filepath.Join(dir, name+".json"), nil
}

// of reports whether the log of the pin is signed with one of these keys.
func (p *pinFile) of(identity []verifierkeys.Key) bool {
	return slices.ContainsFunc(verifierkeys.Texts(identity), func(text string) bool { return slices.Contains(p.Keys, text) })
}

// has reports whether a signature names a key of the pin. It does not verify the signature.
func (p *pinFile) has(s note.Signature) (bool, error) {
	keys, err := p.addKeys(nil, p.Keys)
	return slices.ContainsFunc(keys, func(k verifierkeys.Key) bool { return k.Name() == s.Name && k.KeyHash() == s.Hash }), err
}

// keepPins writes the pins of the verified heads.
func (v *verification) keepPins() error {
	for _, p := range v.parts {
		if p.path == "" || p.report.Pin == nil {
			continue
		}
		pin := &pinFile{
			Pin: *p.report.Pin, Head: p.report.Head.Digest(), Previous: p.previous, Verified: time.Now().UTC().Truncate(time.Second),
			Keys: verifierkeys.Texts(v.trust.routers), Witnesses: verifierkeys.Texts(v.trust.witnesses), From: v.from, path: p.path,
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
