package answerlink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Who is the name that is recorded for answers through links. The person who used the link is not
// authenticated.
const Who = "approval link"

// Path is the path of the console's page for links.
const Path = "/answer"

// Keys make and check links. The first key makes them, and each key checks them. The zero Keys make
// and accept none. Keys are read-only.
type Keys [][]byte

// Derive derives keys from secrets that have another purpose.
func Derive(secrets [][]byte) Keys {
	keys := make(Keys, len(secrets))
	for i, secret := range secrets {
		keys[i] = sign(secret, "hookrouter answer links")
	}
	return keys
}

// URL returns the link that answers an approval request with one of its options. console is the
// console's address.
func (k Keys) URL(console string, q approval.Request, option int) string {
	return console + Path + "#" + k.token(q, option)
}

// token returns "<id>.<option>.<signature>".
func (k Keys) token(q approval.Request, option int) string {
	return q.ID + "." + strconv.Itoa(option) + "." + base64.RawURLEncoding.EncodeToString(signature(k[0], q, option))
}

// signature returns the 128-bit signature over everything that the token stands for.
func signature(key []byte, q approval.Request, option int) []byte {
	text := strings.Join([]string{q.ID, strconv.Itoa(option), q.Options[option], q.DataSHA256, q.Expires.String()}, "\n")
	return sign(key, text)[:16]
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

var form = regexp.MustCompile(`^([A-Za-z0-9_-]{1,128})\.([0-9]{1,3})\.([A-Za-z0-9_-]{22})$`)

// ID returns the id of the approval request that a token names, without checking the token. ok is
// false if the token is malformed.
func ID(token string) (id string, ok bool) {
	if m := form.FindStringSubmatch(token); m != nil {
		return m[1], true
	}
	return "", false
}

// Check returns the option with which a token answers an approval request. The error says why the
// token is not valid.
func (k Keys) Check(token string, q approval.Request, now time.Time) (option string, err error) {
	m := form.FindStringSubmatch(token)
	if len(m) == 0 || m[1] != q.ID {
		return "", errNotValid
	}
	n, _ := strconv.Atoi(m[2]) // only digits
	given, err := base64.RawURLEncoding.Strict().DecodeString(m[3])
	if err != nil || n >= len(q.Options) {
		return "", errNotValid
	}
	for _, key := range k {
		if hmac.Equal(given, signature(key, q, n)) {
			if !now.Before(q.Expires.Time) {
				return "", errExpired
			}
			return q.Options[n], nil
		}
	}
	return "", errNotValid
}

var (
	errNotValid = errors.New("the link is not valid: open it just as it was sent")
	errExpired  = errors.New("the link has expired: nobody answered the approval request in time")
)

// Expired reports whether Check rejected a token only because it has expired.
func Expired(err error) bool { return errors.Is(err, errExpired) }
