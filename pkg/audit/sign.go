package audit

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Keys are the keys that checkpoints are verified with.
type Keys struct {
	// Routers sign checkpoints; at least one key is needed.
	Routers []note.Verifier
	// Witnesses co-sign checkpoints. Routers' keys are not allowed.
	Witnesses []note.Verifier
}

// Check returns an error unless the keys are valid.
func (k Keys) Check() error {
	if len(k.Routers) == 0 {
		return errors.New("no key of a router is given: nothing can be verified")
	}
	for _, key := range k.Witnesses {
		if find(k.Routers, key.Name(), key.KeyHash()) != nil {
			return fmt.Errorf("the key %s is given as a router's and as a witness's: a witness has a key of its own", key.Name())
		}
	}
	return nil
}

// Open verifies and parses a signed checkpoint. A router's signature is required, and all
// signatures by known keys must be valid. witnessed reports whether a known witness signed it.
func (k Keys) Open(signed []byte) (c Checkpoint, witnessed bool, err error) {
	opened, witnessed, err := k.open(signed)
	if err != nil {
		return Checkpoint{}, false, err
	}
	if c, err = ParseCheckpoint(opened.Text); err != nil {
		return Checkpoint{}, false, err
	}
	return c, witnessed, nil
}

func (k Keys) open(signed []byte) (opened *note.Note, witnessed bool, err error) {
	opened, err = note.Open(signed, k)
	if unknown, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return nil, false, unsigned(unknown.Note.UnverifiedSigs)
	}
	if bad, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
		return nil, false, fmt.Errorf("the signature of %s does not fit the checkpoint", keyName(bad.Name, bad.Hash))
	}
	if err != nil {
		return nil, false, fmt.Errorf("no signed checkpoint: %w", err)
	}
	signedBy := func(keys []note.Verifier) bool {
		return slices.ContainsFunc(opened.Sigs, func(sig note.Signature) bool { return find(keys, sig.Name, sig.Hash) != nil })
	}
	if !signedBy(k.Routers) {
		return nil, false, unsigned(append(opened.Sigs, opened.UnverifiedSigs...))
	}
	for _, sig := range opened.Sigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(sig.Base64); err != nil {
			return nil, false, fmt.Errorf("the signature of %s is not in its usual spelling", keyName(sig.Name, sig.Hash))
		}
	}
	return opened, signedBy(k.Witnesses), nil
}

// errUnsigned is the cause if no router's key signed.
var errUnsigned = errors.New("no known router's key has signed the checkpoint")

// unsigned returns the error for a checkpoint without a router's signature. It lists the keys that
// signed.
func unsigned(sigs []note.Signature) error {
	var by []string
	for _, sig := range sigs[:min(len(sigs), 3)] {
		by = append(by, keyName(clip([]byte(sig.Name)), sig.Hash))
	}
	return fmt.Errorf("%w, but %s: another key, or a forged checkpoint", errUnsigned, strings.Join(by, ", "))
}

// keyName returns the quoted start of a verifier key, NAME+HASH. The name comes from the file.
func keyName(name string, hash uint32) string {
	return strconv.Quote(fmt.Sprintf("%s+%08x", name, hash))
}

// Verifier implements [note.Verifiers].
func (k Keys) Verifier(name string, hash uint32) (note.Verifier, error) {
	for _, keys := range [...][]note.Verifier{k.Routers, k.Witnesses} {
		if key := find(keys, name, hash); key != nil {
			return key, nil
		}
	}
	return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
}

func find(keys []note.Verifier, name string, hash uint32) note.Verifier {
	for _, key := range keys {
		if key.Name() == name && key.KeyHash() == hash {
			return key
		}
	}
	return nil
}

// Cosign adds a witness's signature to a signed checkpoint and keeps the others. The witness must
// have verified the log up to this checkpoint, and must not have signed another root.
func Cosign(signed []byte, keys Keys, witness note.Signer) ([]byte, error) {
	if _, _, err := keys.Open(signed); err != nil {
		return nil, fmt.Errorf("co-sign: %w", err)
	}
	opened, _, err := keys.open(signed)
	if err != nil {
		return nil, fmt.Errorf("co-sign: %w", err)
	}
	return note.Sign(opened, witness)
}
