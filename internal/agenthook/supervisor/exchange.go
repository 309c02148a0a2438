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
	HeaderSessions  = "Hook-Sessions"     // of the question: NAME=ID for each of SessionVariables, each with a trailing comma
	HeaderTimeout   = "Hook-Timeout-Ms"   // in the question, the timeout; in the answer, the longest time that it takes
	HeaderEventID   = "Hook-Event-Id"     // of the event, in case it is sent again
	HeaderCode      = "Hook-Exit-Code"    // of hook-agent, to the agent
	HeaderNotes     = "Hook-Notes-Length" // the number of bytes of the body for standard error; the rest is the answer
	HeaderSignature = "Hook-Signature"    // the router's signature of [Exchange.Text]
)

// Exchange is a question to a router of the same user. The router's signature binds its answer to
// the whole question, since another program of this user could listen in place of the router and
// forward a modified question.
type Exchange struct {
	Target, Challenge, Timeout, Sessions string // the request, and its headers
	Document                             []byte
}

// Text returns the text that a router signs for an answer: the question, and the status, headers
// and body of the answer.
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

// genuine reports whether the router with a public key signed an answer.
func (x Exchange) genuine(router, status string, header map[string]string, body []byte) bool {
	signature, err := base64.StdEncoding.DecodeString(header[HeaderSignature])
	if err != nil {
		return false
	}
	ok, err := natscreds.Verified(router, x.Text(status, func(name string) string { return header[name] }, body), signature)
	return ok && err == nil
}
