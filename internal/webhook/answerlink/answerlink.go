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

// Who is the name under which answers through links are recorded. Who held the link is not
// proven.
const Who = "approval link"

// Path is the page of the console that links lead to.
const Path = "/answer"

// Keys make and check links: the first makes them, each of them checks. The zero Keys make
// and accept none. They are read-only.
type Keys [][]byte

// Derive makes keys of secrets that are used for something else too.
func Derive(secrets [][]byte) Keys {
	keys := make(Keys, len(secrets))
	for i, secret := range secrets {
		keys[i] = sign(secret, "hookrouter answer links")
	}
	return keys
}

// URL is the link that answers an approval request with one of its options, below the
// console's address.
func (k Keys) URL(console string, q approval.Request, option int) string {
	return console + Path + "#" + k.token(q, option)
}

// token is "<id>.<option>.<signature>".
func (k Keys) token(q approval.Request, option int) string {
	return q.ID + "." + strconv.Itoa(option) + "." + base64.RawURLEncoding.EncodeToString(signature(k[0], q, option))
}

// signature signs all that the token stands for, with 128 bits.
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

// ID is the approval request that a token names, which proves nothing yet. ok is false where
// the token has not the form of one.
func ID(token string) (id string, ok bool) {
	if m := form.FindStringSubmatch(token); m != nil {
		return m[1], true
	}
	return "", false
}

// Check returns the option that a token answers an approval request with. The error says why
// the token does not hold.
func (k Keys) Check(token string, q approval.Request, now time.Time) (option string, err error) {
	m := form.FindStringSubmatch(token)
	if len(m) == 0 || m[1] != q.ID {
		return "", errNotValid
	}
	n, _ := strconv.Atoi(m[2]) // digits
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

// Expired reports whether Check refused a token only because it is too late.
func Expired(err error) bool { return errors.Is(err, errExpired) }
