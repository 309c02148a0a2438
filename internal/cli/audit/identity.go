package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
)

// identify finds the keys that distinguish the log from others of the same name, such as that of a
// second installation. It takes the first of: the keys of --key; those of the log that was verified
// at this address; the keys of the running routers that a pin has; those of the only pin; and those
// of the one pin whose key an export names.
func (v *verification) identify() error {
	if v.cmd.NoPin || v.cmd.Pin != "" {
		return nil
	}
	given, err := v.cmd.trust(nil)
	if v.whose = given.routers; err != nil || len(v.whose) > 0 {
		return err
	}
	if replaced, err := v.replaced(); replaced || err != nil {
		return err
	}
	var pins []*pinFile
	for _, p := range v.parts {
		if p.headless() {
			continue
		}
		if pins, err = readPins(v.env.Getenv, p.header.Origin); err != nil {
			return err
		}
		if len(pins) > 0 {
			break
		}
	}
	if len(pins) == 0 {
		return nil
	}
	if v.ask != nil {
		if v.whose, err = v.ask(); err != nil {
			return err
		}
		if len(v.whose) > 0 {
			return nil
		}
	}
	own := pins[0]
	if len(pins) > 1 {
		if own, err = v.ownPin(pins); err != nil {
			return err
		}
	}
	v.whose, err = own.addKeys(nil, own.Keys)
	return err
}

// replaced reports whether the routers announce no key of the logs that were verified at their
// address. An attacker who puts another log there, with another key, also answers for the routers.
// In that case the log must be the one that was verified there.
func (v *verification) replaced() (bool, error) {
	if v.ask == nil {
		return false, nil
	}
	var here []*pinFile
	var bad error
	err := eachPin(v.env.Getenv, v.parts[0].header.Prefix, func(_ int, path string) {
		switch pin, err := readPin(path); {
		case err != nil:
			bad = err
		case pin != nil && slices.Contains(v.at, pin.From):
			here = append(here, pin)
		}
	})
	if err = errors.Join(err, bad); err != nil || len(here) == 0 {
		return false, err
	}
	told, err := v.ask()
	if err != nil || len(told) == 0 || slices.ContainsFunc(here, func(pin *pinFile) bool { return pin.of(told) }) {
		return false, err
	}
	v.parts[0].odd = append(v.parts[0].odd, fmt.Sprintf("another log of this name was verified here %s, and its routers now tell the key %s: where the log or the key was replaced on purpose, give the key with --key",
		here[0].Verified.Format(RecordTime), verifierkeys.Names(told)))
	v.whose, err = here[0].addKeys(nil, here[0].Keys)
	return true, err
}

// ownPin returns the one of several pins that has a key which the exports name. That name is only
// the export's own claim, so a note says so; the exports are verified with the pin's key.
func (v *verification) ownPin(pins []*pinFile) (*pinFile, error) {
	var named []string
	for _, p := range v.parts {
		for _, signer := range p.signers() {
			key := fmt.Sprintf("%s+%08x", term.Printable(signer.Name), signer.Hash)
			for _, pin := range pins {
				if has, err := pin.has(signer); err != nil {
					return nil, err
				} else if has {
					p.odd = append(p.odd, fmt.Sprintf("%d logs of this name were verified before; this one names the key %s, as the one that was verified %s in %s",
						len(pins), key, pin.Verified.Format(RecordTime), term.Printable(pin.From)))
					return pin, nil
				}
			}
			named = append(named, key)
		}
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("verify %s: %d logs of this name were verified before, with other keys: say with --key which one this is", pins[0].Origin, len(pins))
	}
	return nil, fmt.Errorf("verify %s: %d logs of this name were verified before, and none has a key that this one names, %s: give it with --key",
		pins[0].Origin, len(pins), strings.Join(named, ", "))
}

// pinOf finds the pin of a part by name and key, or the path for a new one.
func (v *verification) pinOf(p *part) error {
	pins, err := readPins(v.env.Getenv, p.header.Origin)
	if err != nil {
		return err
	}
	for _, pin := range pins {
		if pin.of(v.whose) {
			p.pin, p.path = pin, pin.path
			return nil
		}
	}
	for _, pin := range pins {
		p.odd = append(p.odd, fmt.Sprintf("another log of this name, with other keys, was verified %s in %s: where that was this installation, its log or its key was replaced",
			pin.Verified.Format(RecordTime), term.Printable(pin.From)))
	}
	p.path, err = newPinPath(v.env.Getenv, p.header.Origin, len(pins) > 0, v.whose)
	return err
}

// ours reports whether a pin belongs to the log that is verified, judged by its key. It returns
// true for an unreadable pin, so that using the pin reports the error.
func (v *verification) ours(path string) bool {
	pin, err := readPin(path)
	return err != nil || pin != nil && pin.of(v.whose)
}

var errNoState = errors.New("keep a pin: neither HOME nor XDG_STATE_HOME is set; --pin FILE says where, --no-pin keeps none")
