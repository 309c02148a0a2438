package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// errSecret does not show what was given.
var errSecret = errors.New("the webhook secret must be whsec_ and 24 to 64 bytes in base64: " +
	`make one with printf 'whsec_%s\n' "$(openssl rand -base64 32)"`)

// parseSecret reads one or more secrets as Standard Webhooks writes them.
func parseSecret(text string) (keys [][]byte, err error) {
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

// sign returns the value of webhook-signature: a signature for each key.
func sign(keys [][]byte, id, timestamp string, body []byte) string {
	list := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}
