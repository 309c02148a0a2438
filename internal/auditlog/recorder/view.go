package recorder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Data selects what a record contains of an event's data.
type Data string

// The values of Data: what a record contains in addition to the digest. The zero value means
// [Redacted].
const (
	Digest   Data = "digest"   // nothing
	Redacted Data = "redacted" // the data with its secrets masked
	Full     Data = "full"     // the data
)

// maxValue is the maximum size of a value in a record, in bytes.
const maxValue = 256 << 10

// View renders data for records. It is safe for concurrent use.
type View struct {
	Data  Data          // empty means [Redacted]
	Mask  redact.Masker // nil means [redact.Default]
	Salts *Salts        // nil means digests without salt
}

func (v View) masker() redact.Masker {
	if v.Mask == nil {
		return redact.Default()
	}
	return v.Mask
}

// Of renders an event's data. raw is one JSON value; nil gives nil.
func (v View) Of(session string, raw []byte) *audit.Data {
	if raw == nil {
		return nil
	}
	d := &audit.Data{}
	digest := sha256.New()
	if v.Salts != nil {
		salt := v.Salts.of(session)
		d.Salt = salt.id
		digest.Write(salt.value)
	}
	digest.Write(raw)
	var sum [sha256.Size]byte
	d.SHA256 = hex.EncodeToString(digest.Sum(sum[:0]))
	v.show(d, raw)
	return d
}

func (v View) show(d *audit.Data, raw []byte) {
	switch {
	case v.Data == Digest:
		return
	case len(raw) > maxValue:
		d.Omitted = len(raw)
		return
	case v.Data == Full:
		d.Value = raw
		return
	}
	masked, n := v.masker().Object(raw)
	d.Value, d.Redacted = masked, n > 0
	if bytes.IndexByte(raw, '"') == 0 { // a text, not an object
		var text string
		if json.Unmarshal(raw, &text) == nil {
			text, n = v.masker().Text(text)
			d.Value, _ = json.Marshal(text)
			d.Redacted = n > 0
		}
	}
}

// TextOf renders a text as data; "" gives nil.
func (v View) TextOf(session, text string) *audit.Data {
	if text == "" {
		return nil
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	return v.Of(session, raw)
}

// Changes renders a JSON Patch. It returns nil in [Digest] mode, or if the patch is too large.
func (v View) Changes(patch []byte) json.RawMessage {
	switch {
	case v.Data == Digest || len(patch) > maxValue:
		return nil
	case v.Data == Full:
		return patch
	}
	masked, _ := v.masker().Object(patch)
	return masked
}

// Text renders a text of a hook or a person.
func (v View) Text(text string) string {
	if v.Data == Full || text == "" {
		return text
	}
	return v.Masked(text)
}

// Registration renders a registration; nil gives nil. Erasure does not cover registrations, and a
// hook's match may contain a secret.
func (v View) Registration(raw json.RawMessage) json.RawMessage {
	if v.Data == Full || raw == nil {
		return raw
	}
	masked, _ := v.masker().Object(raw)
	return masked
}

// Masked masks the secrets of a text for log lines, independent of Data.
func (v View) Masked(text string) string {
	masked, _ := v.masker().Text(text)
	return masked
}

// DigestOnly reports whether records contain digests only.
func (v View) DigestOnly() bool { return v.Data == Digest }
