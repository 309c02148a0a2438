package supervisor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// The headers between hook-agent and a router of the same user.
const (
	HeaderChallenge = "Hook-Challenge"    // of the question
	HeaderSessions  = "Hook-Sessions"     // of the question: NAME=ID of SessionVariables, comma-separated
	HeaderTimeout   = "Hook-Timeout-Ms"   // how long the answer takes at the most
	HeaderEventID   = "Hook-Event-Id"     // of the event, should it be sent again
	HeaderCode      = "Hook-Exit-Code"    // of hook-agent
	HeaderNotes     = "Hook-Notes-Length" // how many bytes of the body are for standard error; the rest is the answer
	HeaderSignature = "Hook-Signature"    // of [Exchange.Text], by the router
)

// Exchange is a question that a router of the same user answers. What the router signs binds its
// answer to all of it: another program of this user may listen where the router does not, and
// pass the question on changed.
type Exchange struct {
	Target, Challenge, Timeout, Sessions string // the request, and its headers
	Document                             []byte
}

// Text is what a router signs for an answer: status, headers and body.
func (x Exchange) Text(status string, header func(name string) string, body []byte) []byte {
	parts := []string{"hookrouter local v1", x.Target, x.Challenge, x.Timeout, x.Sessions, digest(x.Document), status}
	for _, name := range [...]string{HeaderTimeout, HeaderEventID, HeaderCode, HeaderNotes} {
		parts = append(parts, header(name))
	}
	return []byte(strings.Join(append(parts, digest(body)), "\n"))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// genuine reports whether the router with a public key gave an answer.
func (x Exchange) genuine(router, status string, header map[string]string, body []byte) bool {
	signature, err := base64.StdEncoding.DecodeString(header[HeaderSignature])
	if err != nil {
		return false
	}
	ok, err := natscreds.Verified(router, x.Text(status, func(name string) string { return header[name] }, body), signature)
	return ok && err == nil
}
