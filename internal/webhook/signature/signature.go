package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// errSecret does not contain the secret.
var errSecret = errors.New("the webhook secret must be whsec_ and 24 to 64 bytes in base64: " +
	`make one with printf 'whsec_%s\n' "$(openssl rand -base64 32)"`)

// Keys are signing secrets. The zero Keys sign nothing. Keys are read-only.
type Keys [][]byte

// Parse parses secrets in the format of Standard Webhooks, separated by spaces. Each signs, so that
// receivers can change theirs one at a time. The error does not contain the secrets.
func Parse(text string) (Keys, error) {
	var keys Keys
	for word := range strings.FieldsSeq(text) {
		encoded, found := strings.CutPrefix(word, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !found || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, errSecret
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errSecret
	}
	return keys, nil
}

// Set sets the three headers of a request. id identifies the message, so that a receiver can drop
// duplicates; it must be a valid header value.
func (k Keys) Set(header http.Header, id string, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", timestamp)
	header.Set("Webhook-Signature", k.sign(id, timestamp, body))
}

// sign returns the value of webhook-signature, with a signature for each key.
func (k Keys) sign(id, timestamp string, body []byte) string {
	list := make([]string, len(k))
	for i, key := range k {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}
